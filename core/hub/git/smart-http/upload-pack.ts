import { pipeline } from "node:stream/promises";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import { answerHead, feed, protocolEnvironment, type TransferRequest, transferBody } from "./transfer-request.ts";
import { FETCH_REQUEST_MAX_BYTES, fetchSettings } from "./transfer-settings.ts";
import { withTransfer } from "./with-transfer.ts";

/** Answers `POST …/git-upload-pack`: a step of a clone or a fetch. */
export async function uploadPack(repo: Repo, { req, res }: TransferRequest): Promise<void> {
  const path = await openRepository(repo);
  const body = transferBody(req, "upload-pack", FETCH_REQUEST_MAX_BYTES);
  await withTransfer(
    path,
    ["upload-pack", "--stateless-rpc", "--", path],
    { config: fetchSettings(), env: protocolEnvironment(req.headers["git-protocol"]?.toString()) },
    async ({ child, endWithClient }) => {
      endWithClient(res);
      answerHead(res, "application/x-git-upload-pack-result");
      feed(body.stream, child.stdin);
      await pipeline(child.stdout, res);
    },
  );
}
