import { setTimeout as delay } from "node:timers/promises";
import { serialize } from "node:v8";
import { isServiceError } from "../../../errors.ts";
import { contentKey, Remembered } from "../../../subprocesses/remembered.ts";
import type { GitProcess } from "../launched-git.ts";
import { walks } from "../queues.ts";
import { type GitOptions, gitLines, RanOutOfTime, runGit, type SpawnOptions, spawnGit, TooMuchOutput } from "../run-git.ts";

/** Pushers control how long a walk takes (S137). A walk that ran out of time is remembered, because it would do so again. */

export const WALK_MAX_MS = 20_000;

const EXHAUSTED_MS = 10 * 60_000;
const EXHAUSTED_MAX = 5_000;

/** S137: pushers choose the names in results, so a limit on the number of results would not be enough. */
const REMEMBERED_MAX_BYTES = 16 * 1024 * 1024;
const ERROR_BYTES = 1_000;

/** Comparing or merging a large file can need many times its size. */
const limits = { isLimited: true, memoryMiB: 256, niceness: 19 } as const;
const CONFIG = ["core.packedGitLimit=64m", "core.packedGitWindowSize=16m", "core.bigFileThreshold=64m"];

export type Walked<T> = {
  value: T;
  isWhole: boolean;
  laterValue?: T;
};

type Walk<T> = {
  directory: string;
  of: readonly string[];
  walk: () => Promise<Walked<T>>;
  waitMaxMs?: number | undefined;
};

type Known<T> = { outcome: { value: T } | { error: RanOutOfTime }; until: number };

export function walker<T>({ max, keepsWhole = true }: { max: number; keepsWhole?: boolean }): (walk: Walk<T>) => Promise<T> {
  const known = new Remembered<Known<T>>({ entries: max, characters: REMEMBERED_MAX_BYTES });
  const recall = (name: string): Known<T> | undefined => {
    const found = known.get(name);
    if (!found || found.until >= Date.now()) return found;
    known.delete(name);
    return undefined;
  };
  const keep = (name: string, one: Known<T>) =>
    known.set(name, one, "error" in one.outcome ? ERROR_BYTES : serialize(one.outcome.value).length);
  return async ({ directory, of, walk, waitMaxMs }) => {
    const name = contentKey(directory, ...of);
    const before = recall(name);
    if (before) return resultOf(before);
    const find = async () => {
      const meanwhile = recall(name);
      if (meanwhile) return resultOf(meanwhile);
      try {
        const { value, isWhole, laterValue = value } = await walk();
        if (!isWhole || keepsWhole)
          keep(name, { outcome: { value: laterValue }, until: isWhole ? Number.POSITIVE_INFINITY : Date.now() + EXHAUSTED_MS });
        return value;
      } catch (error) {
        if (error instanceof RanOutOfTime) keep(name, { outcome: { error }, until: Date.now() + EXHAUSTED_MS });
        throw error;
      }
    };
    return walks.run(find, { within: directory, ...(waitMaxMs !== undefined && { waitMaxMs }) });
  };
}

export const EXTRA_MAX_MS = 250;

/** A walk that has begun continues for the next request. `isLate`: the same request could get the value soon. */
export async function ifInTime<T>(walk: Promise<T>, maxMs = EXTRA_MAX_MS): Promise<{ value?: T; isLate: boolean }> {
  const timer = new AbortController();
  const late = delay(maxMs, { isLate: true }, { signal: timer.signal });
  late.catch(() => undefined);
  try {
    return await Promise.race([walk.then((value) => ({ value, isLate: false })), late]);
  } catch (error) {
    if (isServiceError(error) && error.code === "unavailable") return { isLate: !(error instanceof RanOutOfTime) };
    throw error;
  } finally {
    timer.abort();
    walk.catch(() => undefined);
  }
}

function resultOf<T>({ outcome }: Known<T>): T {
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

const outputs = walker<Buffer>({ max: EXHAUSTED_MAX, keepsWhole: false });

export function runWalk(directory: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const walk = async () => ({ value: await runWalkGit(directory, args, options), isWhole: true });
  return outputs({ directory, of: args, walk });
}

/** `ms` is all the allowed time, and `at` its end. */
export type Deadline = { at: number; ms: number };

export const deadlineIn = (ms: number): Deadline => ({ at: Date.now() + ms, ms });

export async function runWalkUntil({ at, ms }: Deadline, directory: string, args: readonly string[]): Promise<Buffer> {
  const left = () => at - Date.now();
  if (left() <= 0) throw new RanOutOfTime();
  const walk = async () => ({
    value: await runWalkGit(directory, args, { timeoutMs: Math.max(1, left()) }),
    isWhole: true,
  });
  // The time limit is part of the key: a walk that ran out of time may succeed with more.
  return outputs({ directory, of: [`${ms} ms`, ...args], walk, waitMaxMs: left() });
}

/** Gets lines in portions, because there may be as many lines as commits. */
export async function walkLinesUntil(
  { at }: Deadline,
  directory: string,
  args: readonly string[],
  take: (lines: readonly string[]) => void | Promise<void>,
  options: Pick<GitOptions, "env" | "input"> = {},
): Promise<void> {
  const left = () => at - Date.now();
  if (left() <= 0) throw new RanOutOfTime();
  const walk = async () => {
    for await (const some of walkGitLines(directory, args, { timeoutMs: Math.max(1, left()), ...options })) await take(some);
  };
  await walks.run(walk, { within: directory, waitMaxMs: left() });
}

export const walkGitLines = (directory: string, args: readonly string[], options: Parameters<typeof gitLines>[2] = {}) =>
  gitLines(directory, args, { timeoutMs: WALK_MAX_MS, ...limits, ...withConfig(options) });

/** Unless the caller set a limit, too much output is due to the content, and not an internal error. */
export async function runWalkGit(directory: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  try {
    return await runGit(directory, args, { timeoutMs: WALK_MAX_MS, ...limits, ...withConfig(options) });
  } catch (error) {
    throw error instanceof TooMuchOutput && options.maxBytes === undefined ? new RanOutOfTime(error) : error;
  }
}

/** `maxMs` does not include the wait for git's start. */
export async function spawnWalkGit(
  directory: string,
  args: readonly string[],
  { maxMs, ...options }: SpawnOptions & { maxMs: number },
): Promise<GitProcess> {
  const child = await spawnGit(directory, args, { ...limits, ...withConfig(options) });
  const timer = setTimeout(() => child.kill("SIGKILL"), maxMs);
  return child.once("close", () => clearTimeout(timer));
}

const withConfig = <T extends SpawnOptions | GitOptions>(options: T): T => ({
  ...options,
  config: [...CONFIG, ...(options.config ?? [])],
});
