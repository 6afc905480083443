import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { admin } from "./admin.ts";
import { freshEnvironment } from "./demo.ts";
import { DEVICE_SCOPES } from "./device.ts";
import { findFreePorts } from "./free-ports.ts";
import { runUntil } from "./run-until.ts";

/** A service without sample people, for specs that turn its clock or stand behind a proxy. */
export type OwnService = {
  origin: string;
  deviceClientId: string;
  person: { username: string; password: string };
  /** Has its clock run ahead from now on. */
  turnClock(aheadSeconds: number): void;
  stop(): Promise<void>;
};

/** @param settings of the service, besides those of every test */
export async function startOwnService(settings: Record<string, string>): Promise<OwnService> {
  const port = await findFreePorts(1);
  const directory = mkdtempSync(join(tmpdir(), "keyhook-e2e-"));
  const clock = join(directory, "clock");
  const environment = { ...freshEnvironment(port, directory), LOG_LEVEL: "warn", ...settings };
  const { stop } = await runUntil("is ready", {
    script: "supervisor.ts",
    environment: {
      ...environment,
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, "shiftable-clock.ts"))}`,
      CLOCK_FILE: clock,
    },
    log: join(directory, "service.log"),
  });
  const person = { username: "vera", password: "a password for vera" };
  const account = ["--username", person.username, "--password", person.password, "--email", "vera@example.test"];
  await admin({ environment }, "user", "create", ...account);
  const app = ["--name", "Tin Whistle", "--owner", person.username, "--device", "--scopes", DEVICE_SCOPES];
  const { client_id } = await admin({ environment }, "app", "create", ...app);
  return {
    origin: `http://localhost:${port}`,
    deviceClientId: client_id ?? "",
    person,
    turnClock: (aheadSeconds) => writeFileSync(clock, String(aheadSeconds)),
    async stop() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
