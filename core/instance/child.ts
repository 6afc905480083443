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
  /** The time of its last message, in milliseconds of the epoch: "ready" first, then one every few seconds (`sayAlive`). */
  heardAt(): number;
  /** Asks it to end, kills it after 7 seconds, and returns once it is gone. */
  stop(): Promise<void>;
};

/** Thrown if a child ended before it was ready. With status CANNOT_START, it has printed the reason itself. */
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
 * Credentials of the role that owns the database and could change the audit log (S116). Processes that answer requests get none of them:
 * they are set to empty, so that no .env file restores them. POSTGRES_PASSWORD is the owner's in compose.yaml, and in a .env beside it.
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
