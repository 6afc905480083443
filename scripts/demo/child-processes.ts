import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { childEnvironment } from "#core/env.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** When one process ends, the demo ends. The service's own supervisor restarts its processes. */
export class ChildProcesses {
  /** 0 after a requested stop. If a child ended by itself: its exit code, or 1 if that is 0. */
  exitCode = 0;
  readonly #children: ChildProcess[] = [];
  readonly #over = new AbortController();
  #stopping: Promise<void> | undefined;

  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** @param output `ignore` for a child whose output `describeDemo` replaces. Errors are shown */
  start(name: string, args: string[], environment: Record<string, string> = {}, output: "inherit" | "ignore" = "ignore"): void {
    this.over.throwIfAborted();
    // Ctrl-C in a terminal must reach only this process, which then stops the children in order.
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: childEnvironment(environment),
      stdio: ["inherit", output, "inherit"],
      detached: true,
    });
    this.#children.push(child);
    child.once("exit", (code, signal) => {
      if (this.over.aborted) return;
      console.error(`${name} ended (${signal ?? `exit code ${code}`}), and the demo with it.`);
      this.exitCode = code || 1;
      this.#over.abort();
    });
  }

  async run(name: string, script: string): Promise<true> {
    const child = spawn(process.execPath, [script], {
      cwd: ROOT,
      env: childEnvironment(),
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [code] = await once(child, "exit", { signal: this.over });
    if (code !== 0) throw new Error(`${name} could not be created.`);
    return true;
  }

  stop(): Promise<void> {
    this.#over.abort();
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    }
  }
}
