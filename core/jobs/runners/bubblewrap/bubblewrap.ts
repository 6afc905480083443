import { type ChildProcess, spawn } from "node:child_process";
import { type Duplex, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Execution, type Exit, GRACE_MS, type Runner, type Task } from "../runner.ts";
import { findCgroups } from "./cgroups.ts";
import { PATH, substituteFor } from "./host-programs.ts";
import { NoUidLeft } from "./lease-uid.ts";
import { childrenOf, memoryOf } from "./processes.ts";
import { prepareSandbox, type Sandbox, START_SCRIPT } from "./sandbox.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import type { Cgroup } from "./task-cgroup.ts";

const FD = { status: 3, arguments: 4, seccomp: 5, go: 6 } as const;
const MEMORY_CHECK_MS = 200;
/** Memory may be unmeasured for this long, because measuring fails while the first process ends. */
const UNWATCHED_MAX_MS = 2_000;
const OPEN_FILES = 4_096;
/** A runtime such as Node reserves address space without using the memory. */
const RESERVED_BYTES = 1024 ** 3;

/** Without a cgroup, memory is checked periodically (docs/decisions/074-what-holds-a-sandbox.md). */
export const bubblewrap: Runner = {
  name: "bubblewrap",
  async start(task) {
    if (task.command.length === 0)
      return failed(
        "The job has no command, and this service does not use the image's own. Enter a command and run the job again.",
      );
    if (task.image !== undefined) {
      const substitute = await substituteFor(task.image);
      if ("refusal" in substitute) return failed(substitute.refusal);
      task.onNote(substitute.note);
    }
    const cgroups = await findCgroups();
    const cgroup = "reason" in cgroups ? undefined : await cgroups.make(task.id, task.limits);
    try {
      return await new Sandboxed(task, await prepareSandbox(task), cgroup).start();
    } catch (error) {
      await cgroup?.remove();
      if (error instanceof NoUidLeft) return failed(`The sandbox could not be created: ${error.message}.`);
      throw error;
    }
  },
  async report() {
    const cgroups = await findCgroups();
    if ("reason" in cgroups)
      return { isExact: false, sentence: `Memory is checked periodically, and CPUs are not limited. ${cgroups.reason}` };
    const controls = cgroups.controls.map((control) => ({ memory: "memory", pids: "processes", cpu: "CPUs" })[control]);
    return {
      isExact: controls.length === 3,
      sentence: `Cgroups (version ${cgroups.version}) limit what each task uses: ${controls.join(", ")}.`,
    };
  },
};

const failed = (reason: string): Execution => ({ exited: Promise.resolve({ kind: "failed", reason }), kill: () => undefined });

/**
 * In the first moments, bwrap does not end with its parent, so the command waits for the worker's permission. When memory is
 * short, the kernel should kill the command before the worker.
 */
const WAIT_AND_LIMIT = `echo ready >&${FD.go}; read -r go <&${FD.go} || exit 1; exec ${FD.go}>&-
echo 1000 >/proc/self/oom_score_adj; exec nice -n 19 prlimit "$@"`;

/** The environment is set last, because a variable could load a library into these programs. */
function launch({ command, limits }: Task, isInCgroup: boolean): string[] {
  return [
    ...["/bin/sh", "-c", WAIT_AND_LIMIT, "sh"],
    // `--nproc` counts per user. On kernels before 5.14, all tasks of a non-root service are one user.
    ...(isInCgroup ? [] : [`--nproc=${limits.processes}`]),
    `--data=${limits.memoryBytes + RESERVED_BYTES}`,
    `--fsize=${limits.scratchBytes}`,
    `--cpu=${limits.cpuSeconds}`,
    `--nofile=${OPEN_FILES}`,
    "--core=0",
    ...["--", "/bin/sh", START_SCRIPT, ...command],
  ];
}

const pathOnly = { PATH } as Record<string, string> as NodeJS.ProcessEnv;

class Sandboxed {
  readonly #task: Task;
  readonly #sandbox: Sandbox;
  readonly #cgroup: Cgroup | undefined;
  #process!: ChildProcess;
  #firstPid: number | undefined;
  readonly #hasFirst = Promise.withResolvers<void>();
  #failure: string | undefined;
  #exitCode: number | undefined;
  #isOver = false;
  #isOutOfMemory = false;
  #isKilled = false;
  #lastErrors = "";

  constructor(task: Task, sandbox: Sandbox, cgroup: Cgroup | undefined) {
    this.#task = task;
    this.#sandbox = sandbox;
    this.#cgroup = cgroup;
  }

  start(): Execution {
    const sandbox = this.#sandbox;
    const isInCgroup = this.#cgroup !== undefined;
    this.#process = spawn("bwrap", ["--args", String(FD.arguments), "--", ...launch(this.#task, isInCgroup)], {
      cwd: "/",
      env: pathOnly,
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe", "pipe"],
      ...(sandbox.uid !== undefined && { uid: sandbox.uid, gid: sandbox.uid }),
    });
    const options = [...sandbox.arguments, "--json-status-fd", String(FD.status), "--seccomp", String(FD.seccomp)];
    this.#give(FD.arguments, options.map((option) => `${option}\0`).join(""));
    this.#give(FD.seccomp, seccompFilter({ isCounted: !isInCgroup }));
    const go = (this.#process.stdio as readonly unknown[])[FD.go] as Duplex | undefined;
    go?.on("error", () => undefined).once("data", () => {
      Promise.all([this.#enterCgroup(), sandbox.forget().catch(() => undefined)]).then(
        () => go.end("go\n"),
        (error: Error) => {
          if (!this.#isKilled && !this.#isOver) this.#failure = error.message;
          this.#kill();
        },
      );
    });
    const exited = this.#run().finally(async () => {
      // No other task may get the UID while a process of this task runs.
      await this.#cgroup?.remove();
      await sandbox.remove();
    });
    return { exited, kill: () => this.#kill() };
  }

  /** Call this while the command still waits for permission. */
  async #enterCgroup(): Promise<void> {
    if (!this.#cgroup) return;
    await this.#hasFirst.promise;
    const { pid } = this.#process;
    if (pid === undefined || this.#firstPid === undefined) return;
    await this.#cgroup.enter([pid, this.#firstPid, ...(await childrenOf(this.#firstPid))]);
  }

  #give(fd: number, content: string | Buffer): void {
    const pipe = this.#process.stdio[fd] as NodeJS.WritableStream | null | undefined;
    pipe?.on("error", () => undefined);
    pipe?.end(content);
  }

  async #run(): Promise<Exit> {
    const { signal } = this.#task;
    const terminate = () => void this.#terminate();
    const watching = new AbortController();
    const watch = this.#watchMemory(watching.signal);
    if (signal.aborted) terminate();
    signal.addEventListener("abort", terminate);
    try {
      const ended = new Promise<Error | undefined>((resolve) => {
        this.#process.once("error", resolve);
        this.#process.once("exit", () => resolve(undefined));
      });
      const output = Promise.all([
        this.#readStatus(),
        this.#read("stdout", this.#process.stdout),
        this.#read("stderr", this.#process.stderr),
      ]);
      // Nobody awaits this promise while the command runs, so a rejection would end the worker.
      output.catch(() => this.#kill());
      const error = await ended;
      this.#isOver = true;
      await output;
      this.#isOutOfMemory ||= (await this.#cgroup?.wasOutOfMemory()) === true;
      return this.#exit(error);
    } finally {
      watching.abort();
      await watch;
      signal.removeEventListener("abort", terminate);
    }
  }

  #exit(error: Error | undefined): Exit {
    if (this.#failure) return { kind: "failed", reason: `The sandbox could not be created: ${this.#failure}.` };
    if (this.#isOutOfMemory) return { kind: "out_of_memory" };
    if (this.#exitCode !== undefined) return { kind: "exited", code: this.#exitCode };
    if (this.#isKilled) return { kind: "exited", code: 137 };
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT")
      return { kind: "failed", reason: "bwrap is not installed on this machine." };
    const words = error?.message ?? (/bwrap: .*/.exec(this.#lastErrors)?.[0] || "bwrap ended before its command");
    return { kind: "failed", reason: `The sandbox could not be created: ${words}.` };
  }

  async #readStatus(): Promise<void> {
    let text = "";
    for await (const chunk of this.#process.stdio[FD.status] as Readable) {
      text = (text + chunk).slice(-10_000);
      this.#firstPid ??= numberIn(text, "child-pid");
      if (this.#firstPid !== undefined) this.#hasFirst.resolve();
      this.#exitCode ??= numberIn(text, "exit-code");
    }
  }

  async #read(stream: "stdout" | "stderr", source: Readable | null): Promise<void> {
    for await (const chunk of source ?? Readable.from([])) {
      if (stream === "stderr") this.#lastErrors = chunk.subarray(-2_000).toString("latin1");
      await this.#task.onOutput(stream, chunk);
    }
  }

  /** The pauses grow with the time of a check, because a task with many processes must not keep the worker busy. */
  async #watchMemory(signal: AbortSignal): Promise<void> {
    let seenAt = performance.now();
    while (!signal.aborted) {
      const begin = performance.now();
      if (this.#firstPid === undefined || this.#isOver) seenAt = begin;
      else if (!this.#isKilled) {
        try {
          if (await this.#takesTooMuch(this.#firstPid)) {
            this.#isOutOfMemory = true;
            this.#kill();
          }
          seenAt = performance.now();
        } catch {
          // Measuring fails if the first process has just ended. A sandbox that cannot be measured for longer must not continue.
          if (!this.#isOver && performance.now() - seenAt > UNWATCHED_MAX_MS) {
            this.#failure = "its memory use cannot be measured";
            this.#kill();
          }
        }
      }
      const pause = Math.max(MEMORY_CHECK_MS, 4 * (performance.now() - begin));
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #takesTooMuch(firstPid: number): Promise<boolean> {
    // Version 1 of cgroups kills only one process, so all others are killed here.
    if (this.#cgroup) return this.#cgroup.wasOutOfMemory();
    const { memoryBytes } = this.#task.limits;
    return (await memoryOf(firstPid, memoryBytes, this.#sandbox.writable)) > memoryBytes;
  }

  /** The signal goes to the command, because bwrap would end and kill the command at once. */
  async #terminate(): Promise<void> {
    if (this.#firstPid === undefined) return this.#kill();
    const grace = setTimeout(() => this.#kill(), this.#task.graceMs ?? GRACE_MS);
    this.#process.once("exit", () => clearTimeout(grace));
    const [command] = await childrenOf(this.#firstPid);
    if (command !== undefined && !this.#isOver) send(command, "SIGTERM");
  }

  #kill(): void {
    if (this.#isOver) return;
    this.#isKilled = true;
    if (this.#firstPid !== undefined) send(this.#firstPid, "SIGKILL");
    else this.#process.kill("SIGKILL");
  }
}

function numberIn(text: string, name: string): number | undefined {
  const [, digits] = new RegExp(`"${name}": (\\d+)`).exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}
