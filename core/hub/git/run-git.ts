import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { devNull } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { childEnvironment } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { countWork } from "../../fair-queue/party.ts";
import { sourcePath } from "../../source-path.ts";
import { gitLauncher, LauncherEnded } from "./git-launcher.ts";
import type { GitCommand, GitProcess } from "./launched-git.ts";
import { lowerPriority, lowerPriorityOfFamily, type Niceness } from "./linux-process.ts";

/** `stderr` is git's own message. Users must not see it. */
export class GitFailed extends Error {
  override name = "GitFailed";
  readonly status: number | null;
  readonly stderr: string;

  constructor(args: readonly string[], status: number | null, stderr: string) {
    super(`git ${args[0]} ended with ${status}: ${stderr.trim().slice(0, 500)}`);
    this.status = status;
    this.stderr = stderr;
  }
}

export const quarantined = (path: string, quarantine: string) => ({
  GIT_OBJECT_DIRECTORY: quarantine,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: join(path, "objects"),
});

export class TooMuchOutput extends GitFailed {
  override name = "TooMuchOutput";

  constructor(args: readonly string[], maxBytes: number) {
    super(args, null, `more than ${maxBytes} bytes of output`);
  }
}

export class RanOutOfTime extends ServiceError {
  constructor(cause?: unknown) {
    super("unavailable", "This would take git too much time or memory. Try again later, or clone the repository.", {
      cause,
      retryAfterSeconds: 60,
    });
  }
}

export type GitOptions = Pick<SpawnOptions, "isLimited" | "memoryMiB" | "cpuSeconds" | "niceness"> & {
  input?: string | Uint8Array | Readable;
  env?: Record<string, string>;
  config?: readonly string[];
  maxBytes?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
  acceptedStatuses?: readonly number[];
};

const MAX_BYTES = 32 * 1024 * 1024;
/** Reading this many characters blocks the event loop for a millisecond. */
const CHARACTERS_PER_MS = 200_000;
const TIMEOUT_MS = 60_000;
export const UNDER_LOCK = { timeoutMs: 3_000, niceness: 0 } as const;
const STDERR_MAX_CHARACTERS = 16_000;

// Git must not execute what a repository or the machine's configuration names.
const fixed = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: devNull,
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  LC_ALL: "C",
};
const settings = [
  ["safe.directory", "*"],
  ["core.hooksPath", devNull],
  ["core.fsmonitor", "false"],
  ["protocol.allow", "never"],
  ["gc.auto", "0"],
  ["core.quotePath", "false"],
].flatMap(([name, value]) => ["-c", `${name}=${value}`]);

export type SpawnOptions = {
  env?: Record<string, string>;
  /** `name=value`, which overrides the fixed settings. */
  config?: readonly string[];
  signal?: AbortSignal;
  /** Required for commands that read untrusted data. */
  isLimited?: boolean;
  memoryMiB?: number;
  cpuSeconds?: number;
  niceness?: Niceness;
  isLong?: boolean;
  hasChannel?: boolean;
  /** After this time, a git with a channel and all its children get the lowest priority. */
  oldAfterMs?: number;
};

/** Mapped packs must fit into the limited address space. */
const LIMITED_CONFIG = ["core.packedGitLimit=512m", "core.packedGitWindowSize=32m"];
const MEMORY_MIB = 3_072;
/** Git must not take time from the service, and any command may read pushed data (S137). */
const NICENESS = 5;
const CPU_SECONDS = 600;

const LIMITED_GIT = sourcePath("core/hub/git/limited-git");

/** Start git only by this function. Arguments never pass through a shell. */
export async function spawnGit(directory: string, args: readonly string[], options: SpawnOptions = {}): Promise<GitProcess> {
  const { env = {}, config = [], signal, isLimited, niceness, isLong, hasChannel } = options;
  const { memoryMiB = MEMORY_MIB, cpuSeconds = CPU_SECONDS, oldAfterMs } = options;
  const overrides = [...(isLimited ? LIMITED_CONFIG : []), ...config].flatMap((one) => ["-c", one]);
  const [command, ...before] = isLimited ? [LIMITED_GIT, String(memoryMiB * 1024), String(cpuSeconds)] : ["git"];
  const git = {
    ...{ command, cwd: directory, niceness, isLong, hasChannel },
    args: [...before, ...settings, ...overrides, ...args],
    // `GIT_DIR` is relative, because on a shared file system each folder of an absolute path is a request.
    env: { ...gitEnvironment(), GIT_DIR: ".", ...env },
  };
  const child = await launch(git, signal);
  if (hasChannel && oldAfterMs !== undefined) {
    const timer = setTimeout(() => child.pid === undefined || lowerPriorityOfFamily(child.pid, 19), oldAfterMs);
    child.once("exit", () => clearTimeout(timer));
  }
  return child;
}

async function launch(git: GitCommand, signal: AbortSignal | undefined): Promise<GitProcess> {
  try {
    return (
      (await gitLauncher()?.launch({ ...git, niceness: git.niceness ?? NICENESS }, signal)) ?? (await spawnHere(git, signal))
    );
  } catch (error) {
    if (error instanceof LauncherEnded) return spawnHere(git, signal);
    throw error;
  }
}

async function spawnHere(
  { command, args, cwd, env, niceness, hasChannel }: GitCommand,
  signal: AbortSignal | undefined,
): Promise<GitProcess> {
  const stdio = ["pipe", "pipe", "pipe", ...(hasChannel ? (["pipe"] as const) : [])] as const;
  const child = spawn(command, args, { cwd, env, signal, stdio: [...stdio] }) as ChildProcessWithoutNullStreams;
  if (niceness && child.pid !== undefined) lowerPriority(child.pid, niceness);
  child.on("error", () => undefined);
  const hasStreams = Boolean(child.stdout);
  try {
    await once(child, "spawn");
  } catch (error) {
    if (hasStreams) throw error;
    throw new ServiceError("unavailable", "The service is overloaded. Try again in a moment.", {
      retryAfterSeconds: 5,
    });
  }
  return child;
}

export const isOutOfMemory = (stderr: string): boolean => /^.*(out of memory|cannot allocate memory)/im.test(stderr);

/** If git has no exit status, the processor time or the machine's memory was used up. */
function failureOf(args: readonly string[], status: number | null, stderr: string, isLimited = false): GitFailed | RanOutOfTime {
  const failure = new GitFailed(args, status, stderr);
  return isLimited && (status === null || isOutOfMemory(stderr)) ? new RanOutOfTime(failure) : failure;
}

export async function runGit(directory: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const { input, maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS, signal, acceptedStatuses = [0] } = options;
  const { env, config, isLimited, memoryMiB, cpuSeconds, niceness } = options;
  const limit = new AbortController();
  const ended = signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
  const child = await spawnGit(directory, args, { env, config, isLimited, memoryMiB, cpuSeconds, niceness, signal: ended });
  // A signal of AbortSignal.timeout would stay in memory until its timeout.
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  const chunks: Buffer[] = [];
  let size = 0;
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else child.kill("SIGKILL");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < STDERR_MAX_CHARACTERS) stderr += chunk.toString("utf8");
  });
  // Git may end before reading all its input, so only its status counts.
  child.stdin.on("error", () => undefined);
  if (input === undefined || typeof input === "string" || input instanceof Uint8Array) child.stdin.end(input);
  else input.pipe(child.stdin);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) => reject(limit.signal.aborted ? new RanOutOfTime(error) : error));
    child.once("close", resolve);
  }).finally(() => clearTimeout(timer));
  if (size > maxBytes) throw new TooMuchOutput(args, maxBytes);
  if (status === null || !acceptedStatuses.includes(status)) {
    throw failureOf(args, status, stderr, isLimited);
  }
  return Buffer.concat(chunks);
}

/**
 * Yields lines in portions, because all output of pushed data together could fill memory. Charges the request's caller for them
 * (S137). The command ends when the reader stops.
 * @throws GitFailed if the command fails
 * @throws RanOutOfTime if the command exceeds its limits
 */
export async function* gitLines(
  directory: string,
  args: readonly string[],
  options: Omit<GitOptions, "signal" | "acceptedStatuses"> = {},
): AsyncGenerator<string[]> {
  const { input, maxBytes = Number.POSITIVE_INFINITY, timeoutMs = TIMEOUT_MS, ...spawned } = options;
  const limit = new AbortController();
  const child = await spawnGit(directory, args, { ...spawned, signal: limit.signal });
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < STDERR_MAX_CHARACTERS) stderr += chunk.toString("utf8");
  });
  child.stdin.on("error", () => undefined);
  child.once("error", () => undefined);
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  if (input instanceof Readable) input.pipe(child.stdin);
  else child.stdin.end(input);
  let size = 0;
  try {
    let rest = "";
    for await (const text of child.stdout.setEncoding("utf8") as AsyncIterable<string>) {
      size += text.length;
      if (size > maxBytes) throw new TooMuchOutput(args, maxBytes);
      const lines = text.split("\n");
      countWork(text.length / CHARACTERS_PER_MS);
      // A pushed line may be very long, so the unfinished line is not searched again.
      lines[0] = rest + lines[0];
      rest = lines.pop() ?? "";
      if (lines.length > 0) yield lines;
    }
    if (rest) yield [rest];
    const status = await closed;
    if (limit.signal.aborted) throw new RanOutOfTime();
    if (status !== 0) throw failureOf(args, status, stderr, options.isLimited);
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}

function gitEnvironment(): NodeJS.ProcessEnv {
  const { NODE_ENV, PATH, TMPDIR } = childEnvironment();
  return { NODE_ENV, ...(PATH && { PATH }), ...(TMPDIR && { TMPDIR }), HOME: devNull, ...fixed };
}
