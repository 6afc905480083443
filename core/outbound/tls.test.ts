import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { childEnvironment, provideSettings } from "../env.ts";
import type { OutboundResult } from "./request.ts";
import { sendRequest } from "./send-request.ts";
import { startTicketFlood } from "./testing/ticket-flood.ts";

const folder = mkdtempSync(join(tmpdir(), "keyhook-tls-"));
const authority = join(folder, "authority.pem");
const names = [
  { type: 2 as const, value: "localhost" },
  { type: 7 as const, ip: "127.0.0.1" },
];
const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }], {
  keyType: "ec",
  algorithm: "sha256",
  extensions: [
    { name: "basicConstraints", cA: true, critical: true },
    { name: "subjectAltName", altNames: names },
  ],
});
const server = createServer({ cert, key }, (req, res) =>
  res.end(JSON.stringify({ host: req.headers.host, sni: (req.socket as TLSSocket).servername })),
);
let port: number;

beforeAll(async () => {
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
  writeFileSync(authority, cert);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** A request by a process started with NODE_EXTRA_CA_CERTS, which Node reads at startup. */
async function askTrusting(host: string, at = port): Promise<OutboundResult & { text?: string }> {
  const request = { url: `https://${host}:${at}/`, deadlineMs: 10_000, maxBodyBytes: 1_000, onExcess: "fail" };
  const script = `import { sendRequest } from ${JSON.stringify(join(import.meta.dirname, "send-request.ts"))};
    const result = await sendRequest(${JSON.stringify(request)});
    console.log(JSON.stringify({ ...result, text: result.body && Buffer.from(result.body).toString() }));`;
  const env = childEnvironment({ NODE_EXTRA_CA_CERTS: authority });
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { env });
  return JSON.parse(stdout);
}

describe("TLS", () => {
  test("trusts NODE_EXTRA_CA_CERTS, and checks that the certificate is for the host", async () => {
    const named = await askTrusting("localhost");
    expect(named).toMatchObject({ outcome: "answered", timings: { tlsMs: expect.any(Number) } });
    expect(JSON.parse(named.text ?? "")).toEqual({ host: `localhost:${port}`, sni: "localhost" });

    const addressed = await askTrusting("127.0.0.1");
    // RFC 6066 §3.
    expect(JSON.parse(addressed.text ?? "")).toEqual({ host: `127.0.0.1:${port}`, sni: false });

    expect(await askTrusting("another.localhost")).toMatchObject({
      outcome: "unreachable",
      reason: "the server's certificate is for another name",
    });
  });

  test("does not trust a self-signed certificate", async () => {
    const url = `https://localhost:${port}/`;
    expect(await sendRequest({ url, deadlineMs: 10_000, maxBodyBytes: 1_000, onExcess: "fail" })).toEqual({
      outcome: "unreachable",
      reason: "the server's certificate is not from a trusted authority",
      isTimeout: false,
    });
  });

  test("S137 a request is abandoned if the host sends tickets without end", async () => {
    const flood = await startTicketFlood({ cert, key });
    expect(await askTrusting("localhost", flood.port)).toEqual({
      outcome: "unreachable",
      reason: "no secure connection could be established",
      isTimeout: false,
    });
    flood.close();
  });
});
