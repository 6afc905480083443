import { type ChildProcess, fork } from "node:child_process";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

export type AdminRequest = { id: number; args: string[] };
export type AdminResponse = { id: number; json?: unknown; failure?: { error: string; code: string } };

/** One child process for many commands, because loading the service takes long. The child ends with this process. */
export class AdminProcess {
  readonly #environment: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #asked = 0;
  #waiting = 0;

  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
  }

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

  /** Call only while no command runs. The next command starts another process. */
  close(): void {
    this.#child?.disconnect();
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = fork(join(import.meta.dirname, "serve-admin.ts"), {
      cwd: ROOT,
      env: this.#environment,
      // The parent's own module loader, such as Playwright's, must not be used.
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}

/** The child keeps this process alive only while a command runs. */
function hold(child: ChildProcess, isHeld: boolean): void {
  for (const each of [child, child.channel]) {
    if (isHeld) each?.ref();
    else each?.unref();
  }
}
