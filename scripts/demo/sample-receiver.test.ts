import { spawn } from "node:child_process";
import { once } from "node:events";
import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";

it("the example accepts only deliveries that standardwebhooks has signed, each only once", async () => {
  const secret = `whsec_${Buffer.alloc(24, 3).toString("base64")}`;
  const child = spawn(process.execPath, ["examples/webhook-receiver/start.ts"], {
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    await expect.poll(() => output, { timeout: 20_000 }).toContain("/webhooks/maintenance");
    const url = /POST (http\S+)\/webhooks\/onChange/.exec(output)?.[1];
    const body = JSON.stringify({ event: { scope: "repo", action: "create" }, repo: { type: "model", name: "ada/tides" } });
    const send = async ({ key = secret, at = new Date(), sent = body, name = "onChange" } = {}) => {
      const headers = {
        "content-type": "application/json",
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
        "webhook-signature": `v1,b2xk ${new Webhook(key).sign("msg_1", at, body)}`,
      };
      return (await fetch(`${url}/webhooks/${name}`, { method: "POST", headers, body: sent })).status;
    };
    expect(await send({ key: `whsec_${Buffer.alloc(24, 4).toString("base64")}` })).toBe(403);
    expect(await send({ sent: `${body} ` })).toBe(403);
    expect(await send({ at: new Date(Date.now() - 3_600_000) })).toBe(403);
    expect([await send(), await send()]).toEqual([200, 200]);
    await expect.poll(() => output).toContain("repo create: model ada/tides (msg_1)");
    expect(output.match(/msg_1/g)).toHaveLength(1);
    expect(await send({ name: "maintenance" })).toBe(503);
  } finally {
    child.kill();
    await once(child, "exit");
  }
});
