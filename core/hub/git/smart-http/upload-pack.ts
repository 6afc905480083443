import { AsyncResource } from "node:async_hooks";
import { pipeline } from "node:stream/promises";
import { currentParty, type Party } from "../../../fair-queue/party.ts";
import { sendInTurn } from "../../../fair-queue/send-in-turn.ts";
import { log, requestContext } from "../../../log.ts";
import type { Repo } from "../../repos/repo.ts";
import { childrenOf, readProcess } from "../linux-process.ts";
import { fetches } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { bandPackets, PktPosition } from "./pkt-line.ts";
import { spoolRequest } from "./spool-request.ts";
import {
  answerHead,
  feed,
  protocolEnvironment,
  requireTransferHead,
  type TransferRequest,
  transferBody,
} from "./transfer-request.ts";
import { FETCH_MEMORY_BYTES, FETCH_REQUEST_MAX_BYTES, fetchLimits, fetchSettings } from "./transfer-settings.ts";
import { withTransfer } from "./with-transfer.ts";

const TOO_MUCH_MEMORY =
  "The running fetches use too much memory. Try again in a few minutes, or fetch less at once, for example with --depth or --filter.\n";
const SMALL_BYTES = 4 * 1024 * 1024;
const ERROR_READ_MAX_MS = 10_000;

export async function uploadPack(repo: Repo, { req, res }: TransferRequest, { memory = fetchMemory } = {}): Promise<void> {
  const path = await openRepository(repo);
  const { isAnonymous } = currentParty();
  requireTransferHead(req, "upload-pack", FETCH_REQUEST_MAX_BYTES);
  const request = await spoolRequest({ req, res }, { maxBytes: FETCH_REQUEST_MAX_BYTES, within: path });
  try {
    const body = transferBody(req, request.stream, FETCH_REQUEST_MAX_BYTES);
    await withTransfer(
      fetches,
      path,
      ["upload-pack", "--stateless-rpc", "--", path],
      {
        ...fetchLimits,
        niceness: isAnonymous ? "idle" : 19,
        // `SMALL_BYTES` is low, because many large clones that begin together would delay everybody's small clones.
        isLong: isAnonymous && repo.sizeBytes > SMALL_BYTES,
        // Anonymous callers get only existing deltas, because searching for deltas is expensive.
        config: [...fetchSettings(), `pack.window=${isAnonymous ? 0 : 10}`],
        env: protocolEnvironment(req.headers["git-protocol"]?.toString()),
      },
      async ({ child, closed, endWithClient }) => {
        endWithClient(res);
        const turns = sendInTurn();
        const output = turns[0] ?? res;
        const position = new PktPosition();
        const stopWatching = memory.watch(child.pid as number, (bytes) => {
          log().warn({ bytes }, "a fetch was ended, because all fetches together hold too much memory");
          if (!position.takesBandPacket) return res.destroy();
          child.stdout.unpipe(output).resume();
          output.write(bandPackets(3, Buffer.from(TOO_MUCH_MEMORY)));
          child.kill("SIGKILL");
          const timer = setTimeout(() => res.destroy(), ERROR_READ_MAX_MS);
          res.once("close", () => clearTimeout(timer));
        });
        // Another process may get this PID after the exit.
        child.once("exit", stopWatching);
        void closed.then(stopWatching);
        answerHead(res, "application/x-git-upload-pack-result");
        feed(body, child.stdin);
        child.stdout.on("data", (chunk: Buffer) => position.push(chunk));
        await pipeline([child.stdout, ...turns, res]);
      },
    );
  } finally {
    await request.close();
  }
}

const CHECK_EVERY_MS = 250;
const CHECK_OFTEN_MS = 50;

type Fetch = { pid: number; party: Party; bytes: number; end: (bytes: number) => void };

/**
 * All fetches share a memory limit, because a small repository can make git use a gigabyte (S137). Above the limit, the largest
 * fetch of the caller with the most memory ends. Fetches of accounts end only while anonymous callers hold less than half.
 */
export class FetchMemory {
  readonly #maxBytes: number;
  readonly #fetches = new Set<Fetch>();
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes = FETCH_MEMORY_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Calls `end` with the memory that the fetch held.
   * @returns a function that stops watching
   */
  watch(pid: number, end: (bytes: number) => void): () => void {
    const fetch = { pid, party: currentParty(), bytes: 0, end: AsyncResource.bind(end) };
    this.#fetches.add(fetch);
    this.#timer ??= this.#checkIn(CHECK_EVERY_MS);
    return () => this.#forget(fetch);
  }

  #checkIn(ms: number): NodeJS.Timeout {
    // Outside of any request's context, because the timer checks the fetches of all requests.
    return requestContext.exit(() => setTimeout(() => this.#check(), ms).unref());
  }

  #check(): void {
    this.#timer = undefined;
    for (const fetch of this.#fetches) fetch.bytes = memoryOf(fetch.pid);
    while (total(this.#fetches) > this.#maxBytes) {
      const fetch = this.#chooseToEnd();
      this.#forget(fetch);
      // With SIGTERM, git at a low priority would hold its memory for a while.
      for (const pid of childrenOf(fetch.pid)) kill(pid);
      fetch.end(fetch.bytes);
    }
    if (this.#fetches.size === 0) return;
    this.#timer = this.#checkIn(total(this.#fetches) > this.#maxBytes / 2 ? CHECK_OFTEN_MS : CHECK_EVERY_MS);
  }

  #chooseToEnd(): Fetch {
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

/** Does not count mapped packs, which the kernel can reclaim. Returns 0 on systems without /proc. */
function memoryOf(pid: number): number {
  return [pid, ...childrenOf(pid)]
    .flatMap((each) => [...readProcess(`${each}/status`).matchAll(/^(?:RssAnon|VmSwap):\s+(\d+)/gm)])
    .reduce((sum, [, kibibytes]) => sum + Number(kibibytes) * 1024, 0);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

const fetchMemory = new FetchMemory();
