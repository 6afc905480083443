import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const DEVICE_CLI = fileURLToPath(new URL("../../examples/device-cli", import.meta.url));

test("a lost connection does not end the sign-in: the device asks again, more slowly", async () => {
  const polls: string[] = [];
  const server = createServer((req, res) => {
    const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
    if (req.url === "/token" && polls.push("poll") === 1) return req.socket.destroy();
    const answers: Record<string, object> = {
      "/device": { device_code: "d", user_code: "BCDF-GHJK", verification_uri: `${issuer}/device`, expires_in: 60, interval: 1 },
      "/token": { error: "access_denied" },
    };
    const metadata = { issuer, token_endpoint: `${issuer}/token`, device_authorization_endpoint: `${issuer}/device` };
    res.writeHead(req.url === "/token" ? 400 : 200, { "content-type": "application/json" });
    res.end(JSON.stringify(answers[req.url ?? ""] ?? metadata));
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const env = { ...process.env, ISSUER: `http://localhost:${(server.address() as AddressInfo).port}`, CLIENT_ID: "device" };
  const run = promisify(execFile)(process.execPath, ["sign-in.ts"], { cwd: DEVICE_CLI, env });
  await expect(run).rejects.toMatchObject({ code: 3, stderr: expect.stringContaining("The sign-in was refused") });
  expect(polls).toHaveLength(2);
});
