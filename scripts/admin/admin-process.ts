import { type ChildProcess, fork } from "node:child_process";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

export type AdminRequest = { id: number; args: string[] };
export type AdminResponse = { id: number; json?: unknown; failure?: { error: string; code: string } };

/**
 * The operator's command in a process that stays, for programs that run many commands: loading the service takes far longer than most
 * commands. It starts with the first command and ends with this process.
 */
export class AdminProcess {
  readonly #environment: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #asked = 0;
  #waiting = 0;

  /** @param environment the settings of the instance */
  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
  }

  /** @returns what the command prints with `--json`, or why it failed */
  run(args: string[]): Promise<AdminResponse> {
    this.#child ??= this.#start();
    const child = this.#child;
    const id = this.#asked++;
    hold(child, ++this.#waiting > 0);
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        hold(child, --this.#waiting > 0);
        child.off("message", onMessage).off("exit", onExit);
        act();
      };
      const onMessage = (told: unknown) => {
        if ((told as AdminResponse).id === id) settle(() => resolve(told as AdminResponse));
      };
      const onExit = (code: number | null) => settle(() => reject(new Error(`the operator command ended with ${code}`)));
      child.on("message", onMessage).on("exit", onExit);
      child.send({ id, args } satisfies AdminRequest);
    });
  }

  /** Call it only if no command runs; the next command starts another process. */
  close(): void {
    this.#child?.disconnect();
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = fork(join(import.meta.dirname, "serve-admin.ts"), {
      cwd: ROOT,
      env: this.#environment,
      // The parent may have its own loader, such as Playwright's.
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}

/** Without a running command, this process may end, and ends the other. */
function hold(child: ChildProcess, isHeld: boolean): void {
  for (const each of [child, child.channel]) {
    if (isHeld) each?.ref();
    else each?.unref();
  }
}
