import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { type ErrorCode, isServiceError } from "../../errors.ts";
import { lowerPriority } from "../../lower-priority.ts";
import { lostContent } from "../lfs/storage/lfs-storage.ts";
import { XorbCheck } from "./check-xorb.ts";
import { CHUNK_COST_BYTES, ChunkSplitter, unpackChunk } from "./chunk.ts";
import { HASH_BYTES, hashChunk } from "./hashes.ts";
import { ContentSplitter, FOUND_BYTES } from "./split-content.ts";

/** `check` is the xorb's expected hash. */
export type Task = { check: string } | "hash" | "split";

/** A job's first message has `begin`. A message without `step` cancels the job. */
export type Question = {
  id: number;
  begin?: { buffer: SharedArrayBuffer; task: Task };
  /** The part of the buffer with the next input or, for a `file`, space for reading it. */
  step?: { from: number; length: number; isLast: boolean; file?: FilePart };
};
export type FilePart = { path: string; start: number; end: number; hasHeaders: boolean };
export type Answer = { id: number; result?: Uint8Array; error?: { code?: ErrorCode; message: string } };

type Job = {
  /** Yields the cost of each chunk or piece in bytes, so that the caller can pause. */
  push(piece: Buffer, options: { hasHeaders: boolean }): Generator<number, void, undefined>;
  takeFound?(): Uint8Array;
  end(): Uint8Array;
};

class ContentHash implements Job {
  readonly #sha256 = createHash("sha256");
  readonly #splitter = new ChunkSplitter();

  *push(piece: Buffer, { hasHeaders }: { hasHeaders: boolean }): Generator<number, void, undefined> {
    if (!hasHeaders) {
      this.#sha256.update(piece);
      return yield piece.length;
    }
    for (const { header, packed } of this.#splitter.push(piece)) {
      this.#sha256.update(unpackChunk(header, packed));
      yield header.bytes + CHUNK_COST_BYTES;
    }
  }

  end(): Buffer {
    return this.#sha256.digest();
  }
}

class ContentSplit implements Job {
  readonly #splitter = new ContentSplitter();
  #found: Buffer[] = [];

  *push(piece: Buffer): Generator<number, void, undefined> {
    for (const chunk of this.#splitter.push(piece)) {
      this.#note(chunk);
      yield chunk.length + CHUNK_COST_BYTES;
    }
  }

  takeFound(): Buffer {
    const found = Buffer.concat(this.#found);
    this.#found = [];
    return found;
  }

  end(): Buffer {
    const last = this.#splitter.end();
    if (last) this.#note(last);
    return this.takeFound();
  }

  #note(chunk: Buffer): void {
    const found = Buffer.allocUnsafe(FOUND_BYTES);
    hashChunk(chunk).copy(found);
    found.writeUInt32LE(chunk.length, HASH_BYTES);
    this.#found.push(found);
  }
}

const jobFor = (task: Task): Job => {
  if (task === "hash") return new ContentHash();
  return task === "split" ? new ContentSplit() : new XorbCheck(task.check);
};

// On any other system, the whole process would get the lower priority.
if (process.platform === "linux") lowerPriority(10);

/** Counts decompressed bytes, which can be 255 times as many as the compressed ones. */
const BYTES_PER_TURN = 1024 * 1024;

const jobs = new Map<number, { buffer: SharedArrayBuffer; job: Job }>();

async function take({ id, step }: Question): Promise<Answer | undefined> {
  const { buffer, job } = jobs.get(id) ?? {};
  if (!buffer || !job || !step) return void jobs.delete(id);
  let sinceTurn = 0;
  const { hasHeaders = true } = step.file ?? {};
  for (const piece of inputOf(Buffer.from(buffer, step.from, step.length), step.file)) {
    for (const cost of job.push(piece, { hasHeaders })) {
      sinceTurn += cost;
      if (sinceTurn < BYTES_PER_TURN) continue;
      sinceTurn = 0;
      await setImmediate();
      if (!jobs.has(id)) return undefined;
    }
  }
  if (!step.isLast) return { id, ...(job.takeFound && { result: job.takeFound() }) };
  jobs.delete(id);
  return { id, result: job.end() };
}

function* inputOf(bytes: Buffer, file: FilePart | undefined): Generator<Buffer, void, undefined> {
  if (!file) return yield bytes;
  const opened = openFile(file.path);
  try {
    for (let at = file.start; at <= file.end; ) {
      const count = readSync(opened, bytes, 0, Math.min(bytes.length, file.end + 1 - at), at);
      if (count === 0) return;
      yield bytes.subarray(0, count);
      at += count;
    }
  } finally {
    closeSync(opened);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, "r");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") throw lostContent(cause);
    throw cause;
  }
}

parentPort?.on("message", async (question: Question) => {
  const { id, begin } = question;
  try {
    if (begin) jobs.set(id, { buffer: begin.buffer, job: jobFor(begin.task) });
    const answer = await take(question);
    if (answer) parentPort?.postMessage(answer);
  } catch (error) {
    jobs.delete(id);
    const { message } = error as Error;
    parentPort?.postMessage({ id, error: isServiceError(error) ? { code: error.code, message } : { message } });
  }
});
