import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { verifySnippets } from "./verify-snippets.ts";

const bodies = [
  '{"repo":{"name":"ada/tides"},"comment":{"content":"It\'s \\"high\\" tide: $(id) `id` \\\\ ü 🌊\\n"}}',
  '{"comment":{"content":"%s \\u2028 !x $y \\\\\\""}}',
];
const run = {
  Node: (code: string) => ["node", ["--input-type=module", "--eval", code]] as const,
  Python: (code: string) => ["python3", ["-c", code]] as const,
  Shell: (code: string) => ["sh", ["-c", code]] as const,
};

it.each([
  ["a generated secret", `whsec_${Buffer.alloc(32, 7).toString("base64")}`, Buffer.alloc(32, 7)],
  ["a secret chosen by the user", "correct horse $HOME", Buffer.from("correct horse $HOME")],
])("S123 with %s, the snippets verify the delivery that they show, and refuse another secret", (_, secret, key) => {
  for (const body of bodies) {
    const [id, timestamp] = ["65f00c0ffee0123456789abc", "1790000000"];
    const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,b2xk v1,${hmac}` };
    for (const { label, code } of verifySnippets({ url: "https://hooks.example/", headers, body })) {
      if (!Object.hasOwn(run, label)) continue;
      const [file, args] = run[label as keyof typeof run](code);
      const say = (WEBHOOK_SECRET: string) =>
        execFileSync(file, args, { env: { ...process.env, WEBHOOK_SECRET }, encoding: "utf8" }).trim();
      expect(say(secret), `${label} of ${body}`).toBe("The signature is right.");
      expect(say("another secret")).toBe("The signature is wrong.");
    }
  }
});
