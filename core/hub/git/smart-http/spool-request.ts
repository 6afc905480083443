import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ServiceError } from "../../../errors.ts";
import type { Release } from "../../../fair-queue/fair-queue.ts";
import { type Watched, watchPace } from "../../../http/pace.ts";
import { largeRequests } from "../queues.ts";
import { tooLarge, tooSlow } from "./transfer-request.ts";

/** Nearly all fetches ask for less. */
const IN_MEMORY_MAX_BYTES = 128 * 1024;
const GRACE_MS = 60_000;
/** A request arrives within this time, however large it is. */
const ARRIVAL_MAX_MS = 300_000;

export type Spooled = {
  stream: Readable;
  /** Removes it; call it in any case. */
  close(): Promise<void>;
};

/**
 * Reads a request to its end before anything is done for it. A fetch says all that it wants before git can answer: whoever opens
 * connections and sends nothing then holds no place, and keeps nobody from cloning (S137). What is large lies in a file without a
 * name, which is gone with the process; how many there are is limited (queues.ts).
 * @throws ServiceError `payload_too_large`; `unavailable` for what comes too slowly or has no room; `invalid_request` when it ends early
 */
export async function spoolRequest(
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  { maxBytes, within, pace }: { maxBytes: number; within: string; pace?: Partial<Watched> },
): Promise<Spooled> {
  const store = new Store(within);
  try {
    await readAll(req, store, maxBytes, pace);
    return { stream: store.stream(), close: () => store.close() };
  } catch (error) {
    // What is still on its way is not waited for.
    if (!res.headersSent) res.setHeader("Connection", "close");
    await store.close();
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
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return reject(new ServiceError("payload_too_large", tooLarge(maxBytes)));
      if (size <= IN_MEMORY_MAX_BYTES) return store.keep(chunk);
      req.pause();
      store.write(chunk).then(() => req.resume(), reject);
    };
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

/** Bytes in memory, or from a certain size in a file. */
class Store {
  readonly #within: string;
  readonly #chunks: Buffer[] = [];
  #file: FileHandle | undefined;
  #release: Release | undefined;
  #isClosed = false;

  constructor(within: string) {
    this.#within = within;
  }

  keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  async write(chunk: Buffer): Promise<void> {
    this.#file ??= await this.#open();
    // The client may have gone while this waited for room.
    if (this.#isClosed) return this.close();
    for (const one of [...this.#chunks.splice(0), chunk]) await this.#file.writeFile(one);
  }

  stream(): Readable {
    return this.#file?.createReadStream({ start: 0, autoClose: false }) ?? Readable.from(this.#chunks, { objectMode: false });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#chunks.length = 0;
    await this.#file?.close();
    this.#release?.();
  }

  async #open(): Promise<FileHandle> {
    this.#release = await largeRequests.take({ within: this.#within });
    const folder = await mkdtemp(join(tmpdir(), "fetch-"));
    try {
      return await open(join(folder, "request"), "wx+", 0o600);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
