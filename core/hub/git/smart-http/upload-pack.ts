import { pipeline } from "node:stream/promises";
import type { Repo } from "../../repos/repo.ts";
import { fetches } from "../queues.ts";
import { openRepository } from "../repository.ts";
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

/** Answers `POST …/git-upload-pack`: a step of a clone or a fetch. It has a place from when all of its request is there. */
export async function uploadPack(repo: Repo, { req, res }: TransferRequest): Promise<void> {
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
        config: fetchSettings(),
        env: protocolEnvironment(req.headers["git-protocol"]?.toString()),
      },
      async ({ child, endWithClient }) => {
        endWithClient(res);
        answerHead(res, "application/x-git-upload-pack-result");
        feed(stream, child.stdin);
        await pipeline(child.stdout, res);
      },
    );
  } finally {
    await request.close();
  }
}
