import { pipeline } from "node:stream/promises";
import type { Repo } from "../../repos/repo.ts";
import { fetches, pushes } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { FLUSH, pktLine } from "./pkt-line.ts";
import { answerHead, type GitService, isVersion2, protocolEnvironment, type TransferRequest } from "./transfer-request.ts";
import { fetchSettings, pushSettings } from "./transfer-settings.ts";
import { withTransfer } from "./with-transfer.ts";

/** Answers `GET …/info/refs?service=…`: what there is to fetch, or to push to. */
export async function advertiseRefs(repo: Repo, service: GitService, { req, res }: TransferRequest): Promise<void> {
  const path = await openRepository(repo);
  const isFetch = service === "upload-pack";
  // Pushing knows no version 2.
  const environment = isFetch ? protocolEnvironment(req.headers["git-protocol"]?.toString()) : {};
  await withTransfer(
    isFetch ? fetches : pushes,
    path,
    [service, "--stateless-rpc", "--advertise-refs", "--", path],
    { config: isFetch ? fetchSettings() : pushSettings("plain"), env: environment },
    async ({ child, endWithClient }) => {
      endWithClient(res);
      child.stdin.end();
      answerHead(res, `application/x-git-${service}-advertisement`);
      if (!isVersion2(environment)) res.write(Buffer.concat([pktLine(`# service=git-${service}\n`), FLUSH]));
      await pipeline(child.stdout, res);
    },
  );
}
