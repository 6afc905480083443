import { spawn } from "node:child_process";
import { join } from "node:path";
import { childEnvironment } from "../env.ts";
import { CANNOT_START } from "./exit-codes.ts";

/** How a process ended. */
export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type Child = {
  exited: Promise<Exit>;
  /** Settles at the child's "ready" message; rejects when it ends before. */
  ready: Promise<void>;
  /** When it last said something, in milliseconds of the epoch: "ready" first, then every few seconds (`sayAlive`). */
  heardAt(): number;
  /** Asks it to end, insists after 7 seconds, and returns once it is gone. */
  stop(): Promise<void>;
};

/** Thrown when a child ended before it was ready. It has said why itself, when its status is CANNOT_START. */
export class ChildFailed extends Error {
  override name = "ChildFailed";
  readonly isExplained: boolean;

  constructor(file: string, { code, signal }: Exit) {
    super(`${file} ended with ${signal ?? code} before it was ready`);
    this.isExplained = code === CANNOT_START;
  }
}

const ROOT = join(import.meta.dirname, "../..");
const STOP_MS = 7_000;

/**
 * Whatever leads to the role that owns the database, which could change the audit log (S116). What answers requests gets none of it:
 * empty, so that no .env file brings it back. POSTGRES_PASSWORD is the owner's in compose.yaml, and in a .env beside it.
 */
const OWNERS_SECRETS = { DATABASE_OWNER_URL: "", DATABASE_OWNER_URL_FILE: "", POSTGRES_PASSWORD: "" };

/** Starts one of our own entry files as a child that ends when this process does (`stopWhenTold`). */
export function startChild(file: string): Child {
  const child = spawn(process.execPath, [join(ROOT, file)], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: childEnvironment({ NEXT_TELEMETRY_DISABLED: "1", ...OWNERS_SECRETS }),
  });
  let heardAt = Date.now();
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: 1, signal: null }));
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.on("message", () => {
      heardAt = Date.now();
      resolve();
    });
    void exited.then((exit) => reject(new ChildFailed(file, exit)));
  });
  ready.catch(() => undefined); // whoever waits for it hears of it
  return {
    exited,
    ready,
    heardAt: () => heardAt,
    async stop() {
      child.kill("SIGTERM");
      const insist = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await exited;
      clearTimeout(insist);
    },
  };
}
