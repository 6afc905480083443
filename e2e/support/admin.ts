import { type ChildProcess, execFile, fork } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Demo } from "./demo.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Runs the operator command against a running instance and returns the JSON it prints. */
export async function admin<T = Record<string, string>>(
  { environment }: Pick<Demo, "environment">,
  ...args: string[]
): Promise<T> {
  if (isShared(environment)) return askProcess<T>(environment, args);
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/admin.ts", ...args, "--json"], { cwd: ROOT, env });
  return JSON.parse(stdout);
}

/** The demo's, of which specs ask most; a service of a spec's own is asked once or twice. */
function isShared({ DATA_DIR }: Demo["environment"]): boolean {
  const demo = process.env.KEYHOOK_E2E_DEMO;
  return demo !== undefined && (JSON.parse(demo) as Demo).environment.DATA_DIR === DATA_DIR;
}

type Answer = { id: number; json?: unknown; error?: string };

let running: ChildProcess | undefined;
let asked = 0;
let waiting = 0;

/** One process for each worker, which ends with it. */
function askProcess<T>(environment: Demo["environment"], args: string[]): Promise<T> {
  running ??= start(environment);
  const child = running;
  const id = asked++;
  hold(child, ++waiting > 0);
  return new Promise<T>((resolve, reject) => {
    const settle = (act: () => void) => {
      hold(child, --waiting > 0);
      child.off("message", onMessage).off("exit", onExit);
      act();
    };
    const onMessage = (message: unknown) => {
      const { id: answered, json, error } = message as Answer;
      if (answered !== id) return;
      settle(() => (error === undefined ? resolve(json as T) : reject(new Error(`${args.join(" ")}: ${error}`))));
    };
    const onExit = (code: number | null) => settle(() => reject(new Error(`the operator command ended with ${code}`)));
    child.on("message", onMessage).on("exit", onExit);
    child.send({ id, args });
  });
}

function start(environment: Demo["environment"]): ChildProcess {
  const child = fork(join(import.meta.dirname, "admin-process.ts"), {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    // Playwright's own loader is not the service's.
    execArgv: [],
  });
  child.once("exit", () => {
    running = undefined;
  });
  return child;
}

/** A worker with nothing left to do may end, and takes the process with it. */
function hold(child: ChildProcess, isHeld: boolean): void {
  for (const each of [child, child.channel]) {
    if (isHeld) each?.ref();
    else each?.unref();
  }
}
