import { spawn } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { childEnvironment } from "../env.ts";
import { CANNOT_START } from "./process-lifecycle.ts";
import { isAtTerminal, printLines } from "./terminal.ts";

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type Child = {
  exited: Promise<Exit>;
  ready: Promise<unknown>;
  heardAt(): number;
  stop(): Promise<void>;
};

/** If the status is CANNOT_START, the child has already printed the reason. */
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
 * Processes that answer requests must not have the database owner's credentials (S116). The values are empty, because a .env file
 * would restore absent ones.
 */
const OPERATORS_SECRETS = {
  DATABASE_OWNER_URL: "",
  DATABASE_OWNER_URL_FILE: "",
  POSTGRES_PASSWORD: "",
  BACKUP_PASSWORD: "",
  BACKUP_PASSWORD_FILE: "",
  BACKUP_S3_SECRET_ACCESS_KEY: "",
  BACKUP_S3_SECRET_ACCESS_KEY_FILE: "",
};

/** The child ends when this process does (`stopOnSignal`). */
export function startChild(file: string, args: readonly string[] = [], environment: Record<string, string> = {}): Child {
  const child = spawn(process.execPath, [join(ROOT, file), ...args], {
    cwd: ROOT,
    stdio: ["ignore", isAtTerminal() ? "pipe" : "inherit", "inherit", "ipc"],
    env: childEnvironment({
      ...{ NEXT_TELEMETRY_DISABLED: "1", NODE_COMPILE_CACHE: getCompileCacheDir() ?? "" },
      ...environment,
      ...OPERATORS_SECRETS,
    }),
  });
  if (child.stdout) printLines(child.stdout);
  let heardAt = Date.now();
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: 1, signal: null }));
  });
  const ready = new Promise<unknown>((resolve, reject) => {
    child.on("message", (message) => {
      heardAt = Date.now();
      resolve(message);
    });
    void exited.then((exit) => reject(new ChildFailed(file, exit)));
  });
  ready.catch(() => undefined); // callers that await it get the error
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
