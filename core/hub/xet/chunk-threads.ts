import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { ServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { sourcePath } from "../../source-path.ts";
import type { Answer, FilePart, Question, Task } from "./chunk-thread.ts";

/** Leaves one core for everything else, if there are enough. */
const THREADS = Math.max(2, Math.min(4, availableParallelism() - 1));
/** A message to a thread takes as long as hashing a hundred kilobytes, so steps are larger. */
const STEP_BYTES = 512 * 1024;
/** Buffers are reused, because new buffers for a thousand small files would leave a gigabyte of garbage. */
const SPARE_MAX = 8;
const spare: SharedArrayBuffer[] = [];

type Waiting = { resolve: (result: Uint8Array | undefined) => void; reject: (error: Error) => void };
type Thread = { worker: Worker; waiting: Map<number, Waiting>; jobs: number; isGone: boolean };

// Each bundle of Next creates its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookChunkThreads?: { all: Set<Thread>; lastId: number } };
keeper.keyhookChunkThreads ??= { all: new Set(), lastId: 0 };
const threads = keeper.keyhookChunkThreads;

/**
 * Each block is valid until the next request. The last block comes after the check, because a bucket reports success once it has
 * all bytes.
 * @param checked gets an entry for each chunk at the end
 */
export async function* checkXorb(
  content: AsyncIterable<Uint8Array>,
  hash: string,
  checked: { chunks: Uint8Array },
): AsyncGenerator<Uint8Array, void, undefined> {
  const job = new ChunkJob({ check: hash });
  try {
    for await (const piece of content) yield* job.push(piece);
    const { result, block } = await job.end();
    checked.chunks = result;
    if (block.byteLength > 0) yield block;
  } finally {
    job.close();
  }
}

export async function hashContent(chunks: AsyncIterable<Uint8Array | FilePart>): Promise<string> {
  const job = new ChunkJob("hash");
  try {
    for await (const piece of chunks) {
      if (!(piece instanceof Uint8Array)) await job.pushFile(piece);
      else for await (const _ of job.push(piece));
    }
    return Buffer.from((await job.end()).result).toString("hex");
  } finally {
    job.close();
  }
}

export async function* splitContent(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const job = new ChunkJob("split");
  try {
    for await (const piece of content) {
      for await (const _ of job.push(piece)) yield* job.takeFound();
    }
    const { result } = await job.end();
    yield* job.takeFound();
    yield result;
  } finally {
    job.close();
  }
}

/** Works in small steps, because a received megabyte may decompress to 255 MB (S145). */
class ChunkJob {
  readonly #id = ++threads.lastId;
  readonly #thread = takeThread();
  readonly #buffer = spare.pop() ?? new SharedArrayBuffer(2 * STEP_BYTES);
  readonly #bytes = new Uint8Array(this.#buffer);
  #half = 0;
  #length = 0;
  readonly #begin: Question["begin"];
  #hasBegun = false;
  #isOpen = true;
  #isWorking = false;
  #working: Promise<Uint8Array | undefined> = Promise.resolve(undefined);
  #found: Uint8Array[] = [];

  constructor(task: Task) {
    this.#begin = { buffer: this.#buffer, task };
  }

  /** @yields the bytes of each full step, valid until the next request */
  async *push(piece: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; at < piece.byteLength; ) {
      if (this.#length === STEP_BYTES) yield await this.#send({ isLast: false });
      const some = piece.subarray(at, at + STEP_BYTES - this.#length);
      this.#bytes.set(some, this.#half * STEP_BYTES + this.#length);
      this.#length += some.byteLength;
      at += some.byteLength;
    }
  }

  async pushFile(file: FilePart): Promise<void> {
    if (this.#length > 0) await this.#send({ isLast: false });
    await this.#send({ isLast: false, file });
  }

  async end(): Promise<{ result: Uint8Array; block: Uint8Array }> {
    const block = await this.#send({ isLast: true });
    return { result: (await this.#working) as Uint8Array, block };
  }

  takeFound(): Uint8Array[] {
    return this.#found.splice(0);
  }

  /** Call this in any case. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#thread.jobs -= 1;
    if (this.#thread.jobs === 0) this.#thread.worker.unref();
    this.#thread.waiting.delete(this.#id);
    this.#thread.worker.postMessage({ id: this.#id } satisfies Question);
    if (!this.#isWorking && spare.length < SPARE_MAX) spare.push(this.#buffer);
  }

  async #send(options: { isLast: boolean; file?: FilePart }): Promise<Uint8Array> {
    const from = this.#half * STEP_BYTES;
    const step = { from, length: options.file ? STEP_BYTES : this.#length, ...options };
    const block = this.#bytes.subarray(from, from + this.#length);
    const found = await this.#working;
    if (found) this.#found.push(found);
    this.#working = this.#ask({ id: this.#id, step, ...(!this.#hasBegun && { begin: this.#begin }) });
    this.#hasBegun = true;
    this.#working.catch(() => undefined);
    [this.#half, this.#length] = [1 - this.#half, 0];
    return block;
  }

  async #ask(question: Question): Promise<Uint8Array | undefined> {
    if (this.#thread.isGone) throw gone();
    const answered = new Promise<Uint8Array | undefined>((resolve, reject) => {
      this.#thread.waiting.set(this.#id, { resolve, reject });
    });
    this.#isWorking = true;
    this.#thread.worker.postMessage(question);
    return answered.finally(() => {
      this.#isWorking = false;
    });
  }
}

function takeThread(): Thread {
  if (threads.all.size < THREADS && [...threads.all].every(({ jobs }) => jobs > 0)) startThread();
  const thread = [...threads.all].reduce((one, other) => (other.jobs < one.jobs ? other : one));
  thread.jobs += 1;
  thread.worker.ref();
  return thread;
}

function startThread(): void {
  const worker = new Worker(sourcePath("core/hub/xet/chunk-thread.ts"), { execArgv: [] });
  const thread: Thread = { worker, waiting: new Map(), jobs: 0, isGone: false };
  threads.all.add(thread);
  worker.unref();
  worker.on("message", ({ id, result, error }: Answer) => {
    const waiting = thread.waiting.get(id);
    thread.waiting.delete(id);
    if (error) waiting?.reject(error.code ? new ServiceError(error.code, error.message) : new Error(error.message));
    else waiting?.resolve(result);
  });
  worker.on("error", (err) => log().error({ err }, "a thread for chunks failed"));
  worker.once("exit", () => {
    threads.all.delete(thread);
    thread.isGone = true;
    for (const { reject } of thread.waiting.values()) reject(gone());
  });
}

const gone = (): ServiceError =>
  new ServiceError("unavailable", "The file could not be checked. Upload it again.", { retryAfterSeconds: 5 });
