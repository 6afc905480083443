import { pipeline } from "node:stream/promises";
import { currentParty } from "../../../fair-queue/party.ts";
import { log } from "../../../log.ts";
import type { Repo } from "../../repos/repo.ts";
import { fetches } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { fetchMemory } from "./fetch-memory.ts";
import { bandPackets, PktPlace } from "./pkt-line.ts";
import { spoolRequest } from "./spool-request.ts";
import {
  answerHead,
  feed,
  protocolEnvironment,
  requireTransferHead,
  type TransferRequest,
  transferBody,
} from "./transfer-request.ts";
import { FETCH_REQUEST_MAX_BYTES, fetchLimits, fetchSettings } from "./transfer-settings.ts";
import { withTransfer } from "./with-transfer.ts";

const TOO_MUCH_MEMORY =
  "All fetches together take too much memory here. Try again in a few minutes, or fetch less at once, as with --depth or --filter.\n";
/** How long a client may take to read that. */
const LAST_WORD_MS = 10_000;

/**
 * Answers `POST …/git-upload-pack`: a step of a clone or a fetch. It gets its slot when all of its request has arrived.
 * @param options.memory another limit, for tests
 */
export async function uploadPack(repo: Repo, { req, res }: TransferRequest, { memory = fetchMemory } = {}): Promise<void> {
  const path = await openRepository(repo);
  requireTransferHead(req, "upload-pack", FETCH_REQUEST_MAX_BYTES);
  const request = await spoolRequest({ req, res }, { maxBytes: FETCH_REQUEST_MAX_BYTES, within: path });
  try {
    const { stream } = transferBody(req, request.stream, FETCH_REQUEST_MAX_BYTES);
    await withTransfer(
      fetches,
      path,
      ["upload-pack", "--stateless-rpc", "--", path],
      {
        ...fetchLimits,
        niceness: currentParty().isAnonymous ? "idle" : 19,
        config: fetchSettings(),
        env: protocolEnvironment(req.headers["git-protocol"]?.toString()),
      },
      async ({ child, closed, endWithClient }) => {
        endWithClient(res);
        const place = new PktPlace();
        const stopWatching = memory.watch(child.pid as number, (bytes) => {
          log().warn({ bytes }, "a fetch was ended, because all fetches together hold too much memory");
          if (!place.takesBandPacket) return res.destroy();
          child.stdout.unpipe(res).resume();
          res.write(bandPackets(3, Buffer.from(TOO_MUCH_MEMORY)));
          // The response ends with it.
          child.kill("SIGKILL");
          const timer = setTimeout(() => res.destroy(), LAST_WORD_MS);
          res.once("close", () => clearTimeout(timer));
        });
        // After its exit another process may get its pid.
        child.once("exit", stopWatching);
        void closed.then(stopWatching);
        answerHead(res, "application/x-git-upload-pack-result");
        feed(stream, child.stdin);
        child.stdout.on("data", (chunk: Buffer) => place.push(chunk));
        await pipeline(child.stdout, res);
      },
    );
  } finally {
    await request.close();
  }
}
