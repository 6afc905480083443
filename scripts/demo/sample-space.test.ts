import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

it("S51 the example Space, without a secret, refuses malformed payloads, so its page can always be shown", async () => {
  const port = await freePort();
  const child = spawn(process.execPath, ["examples/webhook-space/app.js"], {
    env: { ...process.env, WEBHOOK_SECRET: "", PORT: String(port) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    await once(child.stdout, "data");
    const url = `http://127.0.0.1:${port}/`;
    const send = async (id: string, payload: unknown) =>
      (await fetch(url, { method: "POST", headers: { "webhook-id": id }, body: JSON.stringify(payload) })).status;
    const event = { scope: "repo", action: "create" };
    const hostile = [null, 7, {}, { event: { ...event, scope: { toString: 1 } } }, { event, repo: { name: { toString: 1 } } }];
    for (const [at, payload] of hostile.entries()) expect(await send(`hostile-${at}`, payload)).toBe(400);
    expect(await send("good", { event, repo: { name: "ada/<tides>" } })).toBe(200);
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("ada/&#60;tides&#62;")]);
    expect(child.exitCode).toBeNull();
  } finally {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
  }
});
