import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { lowerPriority } from "../lower-priority.ts";
import { BackupError, NoBackupYet } from "./backup-error.ts";
import { explainFailure } from "./explain-failure.ts";
import type { BackupPlace } from "./place.ts";

export type Snapshot = { id: string; time: string };

export type Saved = { snapshotId: string; bytes: number; addedBytes: number; files: number };

const TAG = "keyhook";
/** Restic's exit status if the snapshot lacks files that could not be read. */
const INCOMPLETE = 3;
const STDERR_MAX_CHARACTERS = 8_000;

export async function openRepository(place: BackupPlace, { mayCreate }: { mayCreate: boolean }): Promise<void> {
  try {
    await run(place, ["unlock", "--quiet"]);
  } catch (error) {
    if (!mayCreate || !(error instanceof NoBackupYet)) throw error;
    await run(place, ["init", "--quiet"]);
  }
}

export async function saveStream(
  place: BackupPlace,
  {
    name,
    kind,
    content,
    signal,
  }: { name: string; kind: string; content: AsyncIterable<Uint8Array>; signal?: AbortSignal | undefined },
): Promise<Saved> {
  const child = start(place, ["backup", "--json", ...labels(kind), "--stdin", "--stdin-filename", name], { signal });
  const ended = summaryOf(child, place);
  ended.catch(() => undefined); // awaited below
  try {
    await pipeline(content, child.stdin as NodeJS.WritableStream);
  } catch (error) {
    // Restic is killed, because it would take the end of its input for the end of the file.
    child.kill("SIGKILL");
    // If restic ended first, its own message says why.
    if (["EPIPE", "ERR_STREAM_PREMATURE_CLOSE"].includes((error as NodeJS.ErrnoException).code ?? "")) await ended;
    throw error;
  }
  return ended;
}

export async function saveDirectories(
  place: BackupPlace,
  { cwd, names, exclude, kind, signal }: SaveDirectories,
): Promise<Saved & { isIncomplete: boolean }> {
  const args = ["backup", "--json", ...labels(kind), ...exclude.map((pattern) => `--exclude=${pattern}`), "--", ...names];
  const child = start(place, args, { cwd, signal });
  child.stdin?.end();
  let isIncomplete = false;
  const saved = await summaryOf(child, place, (status) => {
    isIncomplete = status === INCOMPLETE;
    return isIncomplete;
  });
  return { ...saved, isIncomplete };
}

type SaveDirectories = {
  cwd: string;
  names: string[];
  exclude: readonly string[];
  kind: string;
  signal?: AbortSignal | undefined;
};

const labels = (kind: string): string[] => ["--host", TAG, "--tag", `${TAG},${kind}`];

export async function listSnapshots(place: BackupPlace, kind?: string): Promise<Snapshot[]> {
  const output = await run(place, ["snapshots", "--json", "--tag", kind ? `${TAG},${kind}` : TAG]);
  return ((JSON.parse(output) ?? []) as Snapshot[]).sort((a, b) => a.time.localeCompare(b.time));
}

export async function* readFile(place: BackupPlace, snapshotId: string, path: string): AsyncGenerator<Buffer, void, undefined> {
  const child = start(place, ["dump", snapshotId, path]);
  child.stdin?.end();
  const ended = endOf(child, place);
  ended.catch(() => undefined); // awaited below
  let isRead = false;
  try {
    for await (const chunk of child.stdout as Readable) yield chunk as Buffer;
    isRead = true;
  } finally {
    if (!isRead) child.kill();
  }
  await ended;
}

export async function* listFiles(place: BackupPlace, snapshotId: string): AsyncGenerator<string, void, undefined> {
  const child = start(place, ["ls", "--json", snapshotId]);
  child.stdin?.end();
  const ended = endOf(child, place);
  ended.catch(() => undefined); // awaited below
  for await (const line of createInterface({ input: child.stdout as Readable })) {
    const { type, path } = JSON.parse(line) as { type?: string; path?: string };
    if (type === "file" && path) yield path;
  }
  await ended;
}

export async function restoreDirectories(place: BackupPlace, snapshotId: string, target: string): Promise<void> {
  await run(place, ["restore", snapshotId, "--target", target]);
}

export async function forget(place: BackupPlace, snapshotIds: readonly string[]): Promise<void> {
  if (snapshotIds.length > 0) await run(place, ["forget", "--quiet", "--prune", ...snapshotIds]);
}

export async function check(place: BackupPlace, { isComplete }: { isComplete: boolean }): Promise<void> {
  await run(place, ["check", ...(isComplete ? ["--read-data"] : [])]);
}

async function run(place: BackupPlace, args: readonly string[]): Promise<string> {
  const child = start(place, args);
  child.stdin?.end();
  const [output] = await Promise.all([text(child.stdout as Readable), endOf(child, place)]);
  return output;
}

function start(
  { environment }: BackupPlace,
  args: readonly string[],
  options: { cwd?: string; signal?: AbortSignal | undefined } = {},
): ChildProcess {
  const child = spawn("restic", args, { ...options, env: environment, stdio: ["pipe", "pipe", "pipe"] });
  child.on("error", () => undefined); // `endOf` reports it
  child.stdin?.on("error", () => undefined); // restic ended before it had read everything
  if (child.pid !== undefined) lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL, child.pid);
  return child;
}

async function summaryOf(
  child: ChildProcess,
  place: BackupPlace,
  isAccepted?: (status: number | null) => boolean,
): Promise<Saved> {
  const ended = endOf(child, place, isAccepted);
  let saved: Saved | undefined;
  const read = async () => {
    for await (const line of createInterface({ input: child.stdout as Readable })) {
      if (!line.includes('"message_type":"summary"')) continue;
      const summary = JSON.parse(line);
      saved = {
        snapshotId: summary.snapshot_id,
        bytes: summary.total_bytes_processed,
        addedBytes: summary.data_added,
        files: summary.total_files_processed,
      };
    }
  };
  await Promise.all([ended, read()]);
  if (!saved) throw new BackupError("restic ended without a summary. Update it: version 0.14 or later is required.");
  return saved;
}

async function endOf(child: ChildProcess, place: BackupPlace, isAccepted?: (status: number | null) => boolean): Promise<void> {
  let stderr = "";
  child.stderr?.on("data", (chunk) => {
    stderr = (stderr + chunk).slice(-STDERR_MAX_CHARACTERS);
  });
  let problem: NodeJS.ErrnoException | undefined;
  const status = await new Promise<number | null>((resolve) => {
    child.once("close", resolve).once("error", (error) => {
      problem = error;
      if (child.pid === undefined) resolve(null);
    });
  });
  if (status === 0 || isAccepted?.(status)) return;
  throw explainFailure(place, { stderr, problem });
}
