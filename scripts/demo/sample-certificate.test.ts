import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { env, provideSettings } from "#core/env.ts";
import { makeSampleCertificate } from "./sample-certificate.ts";

let dataDir: string;
const before = env().DATA_DIR;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "keyhook-certificate-"));
  provideSettings({ DATA_DIR: dataDir });
});
afterAll(() => {
  provideSettings({ DATA_DIR: before });
  rmSync(dataDir, { recursive: true });
});

test("the sample site's certificate is trusted only for its host, and is kept", async () => {
  const { directory, trustedPath } = await makeSampleCertificate();
  const [path, keyPath] = [join(directory, "certificate.pem"), join(directory, "key.pem")];
  const [cert, key] = [readFileSync(path, "utf8"), readFileSync(keyPath, "utf8")];
  const certificate = new X509Certificate(cert);
  expect(certificate.ca).toBe(false);
  expect(certificate.subjectAltName).toBe("IP Address:127.0.0.1");
  expect(statSync(keyPath).mode & 0o777).toBe(0o600);
  expect(readFileSync(trustedPath, "utf8")).toContain(cert.trim());

  const server = createServer({ cert, key }, (_, response) => response.end("trusted")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const answer = await fetch(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(await answer.text()).toBe("trusted");
  server.closeAllConnections();
  server.close();

  await makeSampleCertificate();
  expect(readFileSync(path, "utf8")).toBe(cert);
});

test("an unreadable certificate is created again, with its key", async () => {
  const { directory } = await makeSampleCertificate();
  const [path, keyPath] = [join(directory, "certificate.pem"), join(directory, "key.pem")];
  const [cert, key] = [readFileSync(path, "utf8"), readFileSync(keyPath, "utf8")];
  writeFileSync(path, "no certificate");
  await makeSampleCertificate();
  expect(readFileSync(path, "utf8")).not.toBe(cert);
  expect(readFileSync(keyPath, "utf8")).not.toBe(key);
  expect(new X509Certificate(readFileSync(path, "utf8")).checkIP("127.0.0.1")).toBe("127.0.0.1");
});
