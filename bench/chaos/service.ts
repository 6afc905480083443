import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { operatorCommand } from "#core/access/actor.ts";
import { createUser } from "#core/accounts/users/create-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { provideSettings } from "#core/env.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import { findEmbedded } from "#core/postgres/embedded.ts";
import { type RunningService, startService, stopService } from "#core/testing/running-service.ts";
import { startNameServer } from "./name-server.ts";

export type ChaosService = {
  running: RunningService;
  ownerId: string;
  /** Undefined while the embedded database is down. */
  databaseUrl(): string | undefined;
  nameServer: Awaited<ReturnType<typeof startNameServer>>;
  shiftClock(ms: number): void;
  stop(): Promise<void>;
};

/** @param more returns further settings for a directory of the service's files @param database replaces the embedded one */
export async function startChaosService(
  more: (directory: string) => Record<string, string> = () => ({}),
  database: { DATABASE_URL?: string; DATABASE_OWNER_URL?: string; SECRET_KEY?: string } = {},
): Promise<ChaosService> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-chaos-"));
  const clock = join(directory, "clock");
  const nameServer = await startNameServer();
  const settings = {
    DATA_DIR: join(directory, "data"),
    OUTBOUND_ALLOW_CIDRS: "127.0.0.1",
    WEBHOOK_TRIGGERS_PER_DAY: "1000000",
    LOG_LEVEL: "error",
    ...database,
  };
  const running = await startService({
    ...settings,
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, "preload.mjs"))}`,
    CHAOS_CLOCK: clock,
    CHAOS_DNS: nameServer.address,
    ...more(directory),
  });
  process.once("exit", () => running.process.kill("SIGTERM"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  provideSettings({ ...settings, ORIGIN: running.origin });
  const instance = await openInstance();
  return {
    running,
    ownerId: await createOwner(),
    databaseUrl: () => database.DATABASE_URL ?? findEmbedded(running.dataDir)?.url,
    nameServer,
    shiftClock: (ms) => writeFileSync(clock, String(ms)),
    async stop() {
      nameServer.stop();
      await instance.close();
      await stopService({ ...running, isDataShared: false });
    },
  };
}

export const OWNER = { username: "mara", password: "a long enough passphrase" };

export async function createOwner(): Promise<string> {
  const person = { ...OWNER, email: "mara@example.test", fullName: "Mara Lindqvist" };
  return (await createUser(operatorCommand, person, noOrigin)).id;
}

/** Returns MiB. Works only on Linux. */
export function memoryOf(pid: number): number {
  try {
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);
  } catch {
    return 0;
  }
}

export function versions(): string {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  return `commit ${commit}, Node ${process.versions.node}`;
}
