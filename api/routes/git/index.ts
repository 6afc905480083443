import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { ServiceError } from "#core/errors.ts";
import { advertiseRefs } from "#core/hub/git/smart-http/advertise-refs.ts";
import { findTransferRepo } from "#core/hub/git/smart-http/find-transfer-repo.ts";
import { receivePack } from "#core/hub/git/smart-http/receive-pack.ts";
import { gitServiceOf } from "#core/hub/git/smart-http/transfer-request.ts";
import { uploadPack } from "#core/hub/git/smart-http/upload-pack.ts";
import { askedAnew } from "../../bearer.ts";
import { gitActorOf } from "../../git-actor.ts";
import { gitPaths, repoNameOf } from "../../repo-name.ts";
import { answerGitError } from "./answer-git-error.ts";

type GitContext = Context<{ Bindings: HttpBindings }>;

/** Git's own protocol; not in the OpenAPI document, since git is its only client. */
export const gitRoutes = new Hono<{ Bindings: HttpBindings }>();
gitRoutes.onError(answerGitError);

for (const prefix of gitPaths) {
  gitRoutes.get(`${prefix}/info/refs`, async (c) => {
    const service = gitServiceOf(c.req.query("service"));
    if (!service) {
      throw new ServiceError("forbidden", "Only git's smart protocol is spoken here: use git 1.6.6 or later over this address.");
    }
    const repo = await findTransferRepo(await gitActorOf(c), repoNameOf(c.req.param()), service);
    await advertiseRefs(repo, service, streamsOf(c));
    return RESPONSE_ALREADY_SENT;
  });

  gitRoutes.post(`${prefix}/git-upload-pack`, async (c) => {
    const repo = await findTransferRepo(await gitActorOf(c), repoNameOf(c.req.param()), "upload-pack");
    await uploadPack(repo, streamsOf(c));
    return RESPONSE_ALREADY_SENT;
  });

  gitRoutes.post(`${prefix}/git-receive-pack`, async (c) => {
    const actorNow = askedAnew(c, () => gitActorOf(c));
    const name = repoNameOf(c.req.param());
    const repo = await findTransferRepo(await actorNow(), name, "receive-pack");
    await receivePack(actorNow, repo, `${name.owner}/${name.name}`, streamsOf(c));
    return RESPONSE_ALREADY_SENT;
  });
}

/** Node's own streams instead of the Web's: git's bytes go from process to socket and back, as fast as either reads them. */
const streamsOf = (c: GitContext) => ({ req: c.env.incoming, res: c.env.outgoing });
