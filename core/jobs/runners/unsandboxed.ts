import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { PATH } from "./bubblewrap/host-programs.ts";
import { type Execution, type Exit, GRACE_MS, type Runner, type Task } from "./runner.ts";
import { makeTaskDirectory } from "./task-directory.ts";

/** Use this runner only on machines where a command that reads the service's database, key and files harms nobody (S132). */
export const unsandboxed: Runner = {
  name: "unsandboxed",
  async start(task) {
    if (task.command.length === 0) {
      const exit: Exit = {
        kind: "failed",
        reason: "The job has no command, and this service does not use the image's own. Enter a command and run the job again.",
      };
      return { exited: Promise.resolve(exit), kill: () => undefined };
    }
    task.onNote("The job is not isolated: it runs on the service's machine as the service's user.");
    return run(task);
  },
};

async function run(task: Task): Promise<Execution> {
  const directory = await makeTaskDirectory("run", task.id);
  const payloadFile = join(directory, "payload.json");
  if (task.payload !== undefined) await writeFile(payloadFile, task.payload);
  const [program = "", ...rest] = task.command;
  const child = spawn(program, rest, {
    cwd: task.filesDirectory ?? directory,
    env: {
      PATH,
      HOME: directory,
      TMPDIR: directory,
      ...task.environment,
      ...(task.payload !== undefined && { WEBHOOK_PAYLOAD_FILE: payloadFile }),
    } as Record<string, string> as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
    // The command has a process group of its own, so that all of its processes can be killed.
    detached: true,
  });
  yieldMemory(child.pid);
  const send = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The process has ended meanwhile.
    }
  };
  const terminate = () => {
    send("SIGTERM");
    const grace = setTimeout(() => send("SIGKILL"), task.graceMs ?? GRACE_MS);
    child.once("exit", () => clearTimeout(grace));
  };
  task.signal.addEventListener("abort", terminate);
  if (task.signal.aborted) terminate();

  async function exited(): Promise<Exit> {
    const ended = new Promise<Exit>((resolve) => {
      child.once("error", ({ message }) => resolve({ kind: "failed", reason: `The job could not be started: ${message}.` }));
      child.once("exit", (code, signal) =>
        resolve({ kind: "exited", code: code ?? 128 + constants.signals[signal ?? "SIGKILL"] }),
      );
    });
    const output = Promise.all([read("stdout", child.stdout), read("stderr", child.stderr)]);
    // An unhandled rejection would end the worker.
    output.catch(() => send("SIGKILL"));
    const exit = await ended;
    send("SIGKILL");
    await output;
    task.signal.removeEventListener("abort", terminate);
    await rm(directory, { recursive: true, force: true });
    return exit;
  }

  async function read(stream: "stdout" | "stderr", source: Readable): Promise<void> {
    for await (const chunk of source) await task.onOutput(stream, chunk);
  }

  return { exited: exited(), kill: () => send("SIGKILL") };
}

/** When memory is short, the kernel should kill the command before the service. */
function yieldMemory(pid: number | undefined): void {
  try {
    if (pid !== undefined) writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // The process has already ended, or this is not Linux.
  }
}
