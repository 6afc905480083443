import { pipeline } from "node:stream/promises";
import type { Repo } from "../../repos/repo.ts";
import { fetches, pushes } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { FLUSH, pktLine } from "./pkt-line.ts";
import { answerHead, type GitService, isVersion2, protocolEnvironment, type TransferRequest } from "./transfer-request.ts";
import { fetchLimits, fetchSettings, pushSettings } from "./transfer-settings.ts";
import { withTransfer } from "./with-transfer.ts";

export async function advertiseRefs(repo: Repo, service: GitService, { req, res }: TransferRequest): Promise<void> {
  const path = await openRepository(repo);
  const isFetch = service === "upload-pack";
  const environment = isFetch ? protocolEnvironment(req.headers["git-protocol"]?.toString()) : {};
  if (isVersion2(environment)) {
    const capabilities = await findCapabilities(path);
    answerHead(res, "application/x-git-upload-pack-advertisement");
    res.end(capabilities);
    return;
  }
  await withTransfer(
    isFetch ? fetches : pushes,
    path,
    [service, "--stateless-rpc", "--advertise-refs", "--", path],
    {
      config: isFetch ? fetchSettings() : pushSettings("plain"),
      env: environment,
      // S137: git reads all of up to `REPOSITORY_REFS_MAX` refs.
      ...fetchLimits,
    },
    async ({ child, endWithClient }) => {
      endWithClient(res);
      child.stdin.end();
      answerHead(res, `application/x-git-${service}-advertisement`);
      res.write(Buffer.concat([pktLine(`# service=git-${service}\n`), FLUSH]));
      await pipeline(child.stdout, res);
    },
  );
}

let capabilities: Promise<Buffer> | undefined;

/** Contains only git's capabilities, so it is the same for all repositories. */
async function findCapabilities(path: string): Promise<Buffer> {
  capabilities ??= runGit(path, ["upload-pack", "--stateless-rpc", "--advertise-refs", "--", path], {
    config: fetchSettings(),
    env: { GIT_PROTOCOL: "version=2" },
  });
  try {
    return await capabilities;
  } catch (error) {
    capabilities = undefined;
    throw error;
  }
}
