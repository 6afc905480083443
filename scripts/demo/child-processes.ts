import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { childEnvironment } from "#core/env.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/**
 * The processes of the demo, which end together: when one ends, for whatever reason, so does the demo. Nothing is restarted
 * here; the service's own supervisor looks after the service.
 */
export class ChildProcesses {
  /** 0 after a stop that was asked for; else that of the child that ended by itself. */
  exitCode = 0;
  readonly #children: ChildProcess[] = [];
  readonly #over = new AbortController();
  #stopping: Promise<void> | undefined;

  /** Aborted when a child has ended or a stop was asked for: whatever waits for the children gives up then. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  start(name: string, args: string[], environment: Record<string, string> = {}): void {
    this.over.throwIfAborted();
    // A group of its own: Ctrl-C in a terminal reaches this process alone, which then stops the others in order.
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: childEnvironment(environment),
      stdio: "inherit",
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

  /** Stops what runs, last started first, and resolves when all have ended. */
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
