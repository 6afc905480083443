import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePorts } from "./free-ports.ts";
import { makeOtherCertificate } from "./sample-certificates.ts";

/** Plain data, because workers get it as JSON. */
export type Demo = {
  origin: string;
  sites: { serverSide: string; inBrowser: string; byDocument: string };
  /** The service trusts these certificates: for 127.0.0.1, where the samples run, and for OTHER_HOST. */
  certificates: { sample: string; other: string };
  password: string;
  organizations: Record<string, { id: string }>;
  deviceClientId: string;
  exchangeApp: { clientId: string; clientSecret: string };
  /** With these settings, the operator's command finds the same database. */
  environment: Record<string, string>;
};

export async function startDemo(): Promise<{ demo: Demo; stop(): Promise<void> }> {
  const port = await findFreePorts(5);
  const directory = mkdtempSync(join(tmpdir(), "keyhook-e2e-"));
  const other = await makeOtherCertificate(directory);
  const environment = {
    ...freshEnvironment(port, directory),
    NODE_EXTRA_CA_CERTS: other.trustedPath,
    // Lets a story choose the IP address of a device.
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

export type FreshService = Pick<Demo, "origin" | "environment"> & { setupLink: string; stop(): Promise<void> };

/** For a story that changes something that all other stories need. */
export async function startFreshService(): Promise<FreshService> {
  const port = await findFreePorts(1);
  const directory = mkdtempSync(join(tmpdir(), "keyhook-e2e-"));
  const environment = freshEnvironment(port, directory);
  const log = join(directory, "service.log");
  const { stop } = await runUntil("is ready:", { script: "supervisor.ts", environment, log });
  const origin = `http://localhost:${port}`;
  const findLink = () => new RegExp(`${origin}/setup/[\\w-]+`).exec(readFileSync(log, "utf8"))?.[0];
  // The log is written a moment after its text was seen.
  let setupLink = findLink();
  for (; !setupLink; setupLink = findLink()) await sleep(50);
  return {
    origin,
    environment,
    setupLink,
    async stop() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function freshEnvironment(port: number, directory: string) {
  const unset = ["ORIGIN", "DATABASE_URL", "SECRET_KEY", "SMTP_URL", "BRAND_NAME"].map((name) => [name, ""]);
  // The limit is raised, because stories keep the service busy and all their users share an IP address.
  const pace = { ANONYMOUS_ADDRESS_PERCENT: "100" };
  return { ...Object.fromEntries(unset), ...pace, PORT: String(port), DATA_DIR: join(directory, "data") };
}

const ROOT = resolve(import.meta.dirname, "../..");
const START_MS = 240_000;

type Run = {
  script: string;
  environment: Record<string, string>;
  log: string;
};

/** Resolves once the script has printed `text`. @returns how to stop the script */
async function runUntil(text: string, { script, environment, log }: Run): Promise<{ stop(): Promise<void> }> {
  const child = spawn(process.execPath, [script], { cwd: ROOT, env: { ...process.env, ...environment } });
  const output = createWriteStream(log);
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const isUp = await Promise.race([
    once(child.stdout, "close").then(() => false),
    untilPrinted(child, text),
    sleep(START_MS, false, { ref: false }),
  ]);
  if (!isUp) {
    await stop(child);
    throw new Error(`${script} did not get as far as "${text}":\n${readFileSync(log, "utf8")}`);
  }
  return { stop: () => stop(child) };
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
