import { AsyncResource } from "node:async_hooks";
import { currentParty, type Party } from "../../../fair-queue/party.ts";
import { requestContext } from "../../../log.ts";
import { childrenOf, readProcess } from "../linux-process.ts";
import { FETCH_MEMORY_BYTES } from "./transfer-settings.ts";

const LOOK_EVERY_MS = 250;
/** Two cores fill a gigabyte in a second. */
const LOOK_CLOSELY_MS = 50;

type Fetch = { pid: number; party: Party; bytes: number; end: (bytes: number) => void };

/**
 * Bounds the memory that the git processes of all fetches hold together (S137). A clone holds some 250 bytes for each object until it has
 * been read, and all the trees on its way down: a repository of 870 KB in 300 trees takes a gigabyte. Neither a number of slots nor a
 * number of objects bounds that, and a limit per process that bounds the sum would be too small for a large repository.
 *
 * Therefore their memory is read several times a second. While all fetches together hold too much, the largest fetch of the caller that
 * holds most is ended. Fetches of accounts are ended only while anonymous callers hold no more than half.
 */
export class FetchMemory {
  readonly #maxBytes: number;
  readonly #fetches = new Set<Fetch>();
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes = FETCH_MEMORY_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Counts a git process and its children against the current caller.
   * @param end is called with the bytes that the fetch held, once it was chosen to end and is no longer counted
   * @returns a function that stops counting
   */
  watch(pid: number, end: (bytes: number) => void): () => void {
    const fetch = { pid, party: currentParty(), bytes: 0, end: AsyncResource.bind(end) };
    this.#fetches.add(fetch);
    this.#timer ??= this.#lookIn(LOOK_EVERY_MS);
    return () => this.#forget(fetch);
  }

  #lookIn(ms: number): NodeJS.Timeout {
    // Outside of any request's context, because it checks the fetches of all requests.
    return requestContext.exit(() => setTimeout(() => this.#look(), ms).unref());
  }

  #look(): void {
    this.#timer = undefined;
    for (const fetch of this.#fetches) fetch.bytes = memoryOf(fetch.pid);
    while (total(this.#fetches) > this.#maxBytes) {
      const fetch = this.#toEnd();
      this.#forget(fetch);
      // SIGKILL: on SIGTERM git takes a while at its low priority, and holds its memory meanwhile. It has nothing to clean up.
      for (const pid of childrenOf(fetch.pid)) kill(pid);
      fetch.end(fetch.bytes);
    }
    if (this.#fetches.size === 0) return;
    this.#timer = this.#lookIn(total(this.#fetches) > this.#maxBytes / 2 ? LOOK_CLOSELY_MS : LOOK_EVERY_MS);
  }

  #toEnd(): Fetch {
    const anonymous = [...this.#fetches].filter(({ party }) => party.isAnonymous);
    const known = [...this.#fetches].filter(({ party }) => !party.isAnonymous);
    const side = total(anonymous) > this.#maxBytes / 2 ? anonymous : known;
    const parties = Map.groupBy(side, ({ party }) => party.key);
    const most = [...parties.values()].reduce((one, other) => (total(other) > total(one) ? other : one));
    return most.reduce((one, other) => (other.bytes > one.bytes ? other : one));
  }

  #forget(fetch: Fetch): void {
    this.#fetches.delete(fetch);
    if (this.#fetches.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

const total = (fetches: Iterable<Fetch>): number => [...fetches].reduce((sum, { bytes }) => sum + bytes, 0);

/** The bytes of a process and its children, without the packs that they map, which the kernel can reclaim. 0 where there is no /proc. */
function memoryOf(pid: number): number {
  return [pid, ...childrenOf(pid)]
    .flatMap((each) => [...readProcess(`${each}/status`).matchAll(/^(?:RssAnon|VmSwap):\s+(\d+)/gm)])
    .reduce((sum, [, kibibytes]) => sum + Number(kibibytes) * 1024, 0);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

export const fetchMemory = new FetchMemory();
