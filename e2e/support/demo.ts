import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePorts } from "./free-ports.ts";
import { makeOtherCertificate } from "./sample-certificates.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const START_MS = 240_000;

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
  /** Its settings, with which the operator command finds the same database. */
  environment: Record<string, string>;
};

/**
 * Starts `npm run demo`, as a person would, in a directory of its own; returns how to stop it.
 * @param more settings, for the few specs that need an instance of their own
 */
export async function startDemo(more: Record<string, string> = {}): Promise<{ demo: Demo; stop(): Promise<void> }> {
  const port = await findFreePorts(4);
  const directory = mkdtempSync(join(tmpdir(), "keyhook-e2e-"));
  const other = await makeOtherCertificate(directory);
  const environment = {
    PORT: String(port),
    DATA_DIR: join(directory, "data"),
    NODE_EXTRA_CA_CERTS: other.trustedPath,
    // What the person running the tests has set for an instance of theirs must not reach this one.
    ...Object.fromEntries(["ORIGIN", "DATABASE_URL", "SECRET_KEY", "SMTP_URL", "BRAND_NAME"].map((name) => [name, ""])),
    ...more,
  };
  const log = join(directory, "demo.log");
  const child = spawn(process.execPath, ["scripts/demo.ts"], { cwd: ROOT, env: { ...process.env, ...environment } });
  const output = createWriteStream(log);
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const isUp = await Promise.race([
    once(child.stdout, "close").then(() => false),
    untilPrinted(child, "Ctrl-C stops everything."),
    sleep(START_MS, false, { ref: false }),
  ]);
  if (!isUp) {
    await stop(child);
    throw new Error(`The demo did not start:\n${readFileSync(log, "utf8")}`);
  }
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
      environment,
    },
    async stop() {
      await stop(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function untilPrinted({ stdout }: ChildProcess, text: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let printed = "";
  stdout?.on("data", (chunk) => {
    printed += chunk;
    if (printed.includes(text)) resolve(true);
  });
  return promise;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
