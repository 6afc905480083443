import { newId } from "../../ids.ts";
import type { Execution, Exit, Runner, Task } from "../runners/runner.ts";

export const MEBIBYTE = 1024 ** 2;

export const smallLimits = {
  memoryBytes: 128 * MEBIBYTE,
  cpus: 1,
  processes: 48,
  scratchBytes: 32 * MEBIBYTE,
  cpuSeconds: 20,
};

export type Ended = { exit: Exit; stdout: string; stderr: string; notes: string[] };

export async function startTask(runner: Runner, command: string[], more: Partial<Task> = {}) {
  const said = { stdout: "", stderr: "" };
  const notes: string[] = [];
  const end = new AbortController();
  const execution: Execution = await runner.start({
    id: newId(),
    command,
    environment: {},
    network: false,
    limits: smallLimits,
    onOutput: (stream, bytes) => {
      said[stream] += bytes.toString("utf8");
    },
    onNote: (sentence) => notes.push(sentence),
    signal: end.signal,
    graceMs: 500,
    ...more,
  });
  const ended: Promise<Ended> = execution.exited.then((exit) => ({ exit, ...said, notes }));
  return { ended, said, end: () => end.abort(), kill: execution.kill };
}

export async function runTask(runner: Runner, command: string[], more: Partial<Task> = {}): Promise<Ended> {
  return (await startTask(runner, command, more)).ended;
}
