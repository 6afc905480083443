import { AsyncLocalStorage } from "node:async_hooks";
import { type FileHandle, open, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ServiceError } from "../../../errors.ts";
import type { FairQueue, Slot } from "../../../fair-queue/fair-queue.ts";
import { type Watched, watchPace } from "../../../http/pace.ts";
import { makeTemporaryFolder } from "../../../temporary-folder.ts";
import { largeRequests, REQUEST_MEMORY_BYTES, requestMemory } from "../queues.ts";
import { tooLarge, tooSlow } from "./transfer-request.ts";

const SMALL_MAX_BYTES = 4 * 1024;
const GRACE_MS = 60_000;
const ARRIVAL_MAX_MS = 300_000;

type Spooled = {
  stream: Readable;
  mustYield(): boolean;
  /** Call this in any case. */
  close(): Promise<void>;
};

type SpoolOptions = {
  maxBytes: number;
  within: string;
  files?: FairQueue;
  pace?: Partial<Watched>;
};

/** Receives the whole request first, so that silent clients hold no slot (S137). A large request goes into an unlinked file. */
export async function spoolRequest(
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  { maxBytes, within, files = largeRequests, pace }: SpoolOptions,
): Promise<Spooled> {
  const store = new Store(within, files);
  try {
    if (Number(req.headers["content-length"]) > maxBytes) throw new ServiceError("payload_too_large", tooLarge(maxBytes));
    await readAll(req, store, maxBytes, pace);
    return { stream: store.stream(), mustYield: () => store.mustYield(), close: () => store.close() };
  } catch (error) {
    if (!res.headersSent) res.setHeader("Connection", "close");
    await store.close();
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") {
      throw new ServiceError("unavailable", "There is no space left for this request. Contact the operator of this service.", {
        cause: error,
      });
    }
    throw error;
  }
}

async function readAll(req: IncomingMessage, store: Store, maxBytes: number, pace: Partial<Watched> | undefined): Promise<void> {
  let size = 0;
  const stops: (() => void)[] = [];
  const whole = new Promise<void>((resolve, reject) => {
    const watched = { bytes: () => req.socket.bytesRead, isWaiting: () => !req.isPaused(), graceMs: GRACE_MS };
    stops.push(watchPace({ ...watched, onTooSlow: () => reject(tooSlow()), ...pace }));
    const limit = setTimeout(() => reject(tooSlow()), ARRIVAL_MAX_MS);
    stops.push(() => clearTimeout(limit));
    // Event handlers lack the context of the request, whose caller the slot counts against.
    const take = AsyncLocalStorage.bind((chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return reject(new ServiceError("payload_too_large", tooLarge(maxBytes)));
      if (store.keep(chunk)) return;
      req.pause();
      store.write(chunk).then(() => req.resume(), reject);
    });
    req.on("data", take);
    stops.push(() => req.off("data", take));
    req.once("end", resolve);
    req.once("error", () => undefined);
    req.once("close", () => reject(new ServiceError("invalid_request", "The request ended early.")));
  });
  await whole.finally(() => {
    for (const stop of stops) stop();
  });
}

/** Uses one buffer, because each Buffer takes some hundred bytes besides its content. */
class Store {
  readonly #within: string;
  readonly #files: FairQueue;
  #memory = Buffer.allocUnsafeSlow(SMALL_MAX_BYTES);
  #size = 0;
  #file: FileHandle | undefined;
  #release: Slot | undefined;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  constructor(within: string, files: FairQueue) {
    this.#within = within;
    this.#files = files;
  }

  /** @returns false if the chunk must be written instead */
  keep(chunk: Buffer): boolean {
    if (this.#file) return false;
    const size = this.#size + chunk.length;
    if (size > this.#memory.length && !this.#grow(size)) return false;
    chunk.copy(this.#memory, this.#size);
    this.#size = size;
    return true;
  }

  /** Call this again only after its promise has settled. */
  write(chunk: Buffer): Promise<void> {
    this.#writing = this.#write(chunk);
    return this.#writing;
  }

  stream(): Readable {
    if (this.#file) return this.#file.createReadStream({ start: 0, autoClose: false });
    return Readable.from([this.#memory.subarray(0, this.#size)], { objectMode: false });
  }

  mustYield(): boolean {
    return this.#release?.mustYield() ?? false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const file = this.#file;
    this.#dropMemory();
    if (!file) return;
    this.#file = undefined;
    await this.#writing?.catch(() => undefined);
    await file.close().finally(this.#release);
  }

  #grow(size: number): boolean {
    if (this.#isClosed || this.#release || size > REQUEST_MEMORY_BYTES) return false;
    this.#release = requestMemory.tryTake({ within: this.#within });
    if (!this.#release) return false;
    const larger = Buffer.allocUnsafeSlow(REQUEST_MEMORY_BYTES);
    this.#memory.copy(larger, 0, 0, this.#size);
    this.#memory = larger;
    return true;
  }

  async #write(chunk: Buffer): Promise<void> {
    const file = this.#file ?? (await this.#moveToFile());
    await file.writeFile(chunk);
  }

  async #moveToFile(): Promise<FileHandle> {
    const release = await this.#files.take({ within: this.#within });
    let file: FileHandle | undefined;
    try {
      file = await openUnlinkedFile();
      await file.writeFile(this.#memory.subarray(0, this.#size));
      // Nothing else releases the slot if the client has disconnected meanwhile.
      if (this.#isClosed) throw new ServiceError("invalid_request", "The request ended early.");
    } catch (error) {
      await file?.close().catch(() => undefined);
      release();
      throw error;
    }
    this.#dropMemory();
    this.#file = file;
    this.#release = release;
    return file;
  }

  #dropMemory(): void {
    if (this.#file) return;
    this.#memory = Buffer.alloc(0);
    this.#size = 0;
    this.#release?.();
    this.#release = undefined;
  }
}

async function openUnlinkedFile(): Promise<FileHandle> {
  const folder = await makeTemporaryFolder("fetch");
  try {
    return await open(join(folder, "request"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
