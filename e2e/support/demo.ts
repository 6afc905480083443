import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePorts } from "./free-ports.ts";
import { runUntil } from "./run-until.ts";
import { makeOtherCertificate } from "./sample-certificates.ts";

/** Where the demo that the specs drive can be reached, and what it was seeded with. Plain data: workers get it as JSON. */
export type Demo = {
  origin: string;
  sites: { serverSide: string; inBrowser: string; byDocument: string };
  /** Directories of certificates that the service trusts: for 127.0.0.1, where the samples run, and for OTHER_HOST. */
  certificates: { sample: string; other: string };
  password: string;
  /** By handle. */
  organizations: Record<string, { id: string }>;
  /** The client ID of the sample app for examples/device-cli. */
  deviceClientId: string;
  /** The sample app for examples/org-token-exchange. */
  exchangeApp: { clientId: string; clientSecret: string };
  /** Its settings, with which the operator command finds the same database. */
  environment: Record<string, string>;
};

/** Starts `npm run demo`, as a person would, in a directory of its own; returns how to stop it. */
export async function startDemo(): Promise<{ demo: Demo; stop(): Promise<void> }> {
  const port = await findFreePorts(5);
  const directory = mkdtempSync(join(tmpdir(), "keyhook-e2e-"));
  const other = await makeOtherCertificate(directory);
  const environment = {
    ...freshEnvironment(port, directory),
    NODE_EXTRA_CA_CERTS: other.trustedPath,
    // So that a story can be on another network than its browser.
    TRUST_PROXY: "127.0.0.0/8,::1",
  };
  const log = join(directory, "demo.log");
  const { stop } = await runUntil("Ctrl-C stops everything.", { script: "scripts/demo.ts", environment, log });
  const { password, organizations, apps } = JSON.parse(readFileSync(join(environment.DATA_DIR, "demo.json"), "utf8"));
  const sites = {
    serverSide: `http://127.0.0.1:${port + 1}`,
    inBrowser: `http://127.0.0.1:${port + 2}`,
    byDocument: `https://127.0.0.1:${port + 3}`,
  };
  const certificates = { sample: join(environment.DATA_DIR, "sample-certificate"), other: other.directory };
  return {
    demo: {
      origin: `http://localhost:${port}`,
      sites,
      certificates,
      password,
      organizations,
      deviceClientId: apps["device-cli"].clientId,
      exchangeApp: apps["org-token-exchange"],
      environment,
    },
    async stop() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Settings of an instance for tests. What the person running them has set for an instance of theirs must not reach it. */
export function freshEnvironment(port: number, directory: string) {
  const unset = ["ORIGIN", "DATABASE_URL", "SECRET_KEY", "SMTP_URL", "BRAND_NAME"].map((name) => [name, ""]);
  // Stories keep the service busy, and everybody in them shares an address.
  const pace = { ANONYMOUS_ADDRESS_PERCENT: "100" };
  return { ...Object.fromEntries(unset), ...pace, PORT: String(port), DATA_DIR: join(directory, "data") };
}
