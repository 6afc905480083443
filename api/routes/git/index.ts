import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { isDatabaseDown } from "#core/database-errors.ts";
import { env } from "#core/env.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";
import { advertiseRefs } from "#core/hub/git/smart-http/advertise-refs.ts";
import { receivePack } from "#core/hub/git/smart-http/receive-pack.ts";
import { findTransferRepo, gitServiceOf } from "#core/hub/git/smart-http/transfer-request.ts";
import { uploadPack } from "#core/hub/git/smart-http/upload-pack.ts";
import { log } from "#core/log.ts";
import { repeatableLookup } from "../../bearer.ts";
import { basicChallenge, gitActorOf, gitPaths, repoNameOf } from "../../git-request.ts";
import { TRANSFER, takesBody } from "../../refuse-bad-input.ts";

type GitContext = Context<{ Bindings: HttpBindings }>;

export const gitRoutes = new Hono<{ Bindings: HttpBindings }>();
gitRoutes.onError(answerGitError);

for (const prefix of gitPaths) {
  gitRoutes.get(`${prefix}/info/refs`, async (c) => {
    const service = gitServiceOf(c.req.query("service"));
    if (!service) {
      throw new ServiceError("forbidden", "This URL supports only git's smart protocol: use git 1.6.6 or later.");
    }
    const repo = await findTransferRepo(await gitActorOf(c), repoNameOf(c.req.param()), service);
    await advertiseRefs(repo, service, streamsOf(c));
    return RESPONSE_ALREADY_SENT;
  });

  gitRoutes.post(`${prefix}/git-upload-pack`, takesBody(TRANSFER), async (c) => {
    const repo = await findTransferRepo(await gitActorOf(c), repoNameOf(c.req.param()), "upload-pack");
    await uploadPack(repo, streamsOf(c));
    return RESPONSE_ALREADY_SENT;
  });

  gitRoutes.post(`${prefix}/git-receive-pack`, takesBody(TRANSFER), async (c) => {
    const actorNow = repeatableLookup(c, () => gitActorOf(c));
    const name = repoNameOf(c.req.param());
    const repo = await findTransferRepo(await actorNow(), name, "receive-pack");
    await receivePack(actorNow, repo, `${name.owner}/${name.name}`, streamsOf(c));
    return RESPONSE_ALREADY_SENT;
  });
}

/** Node's own streams, so that git sends no faster than the receiving side reads. */
const streamsOf = (c: GitContext) => ({ req: c.env.incoming, res: c.env.outgoing });

/** Callers without credentials get the same response for missing, private and restricted repositories (S136). */
function answerGitError(thrown: Error, c: Context): Response {
  const error = toServiceError(thrown);
  // A response that was begun cannot change. Git notices the cut.
  if (c.env?.outgoing?.headersSent) {
    c.env.outgoing.destroy();
    return RESPONSE_ALREADY_SENT;
  }
  const mustSignIn = error.code === "unauthorized" || (error.code === "not_found" && !c.req.header("Authorization"));
  if (!mustSignIn) {
    const headers: Record<string, string> = { "Cache-Control": "no-store" };
    if (error.retryAfterSeconds !== undefined) headers["Retry-After"] = String(error.retryAfterSeconds);
    if (error.wireCode) headers["X-Error-Code"] = error.wireCode;
    return c.text(`${error.message}\n`, error.status as 400, headers);
  }
  const sentence = c.req.header("Authorization")
    ? "This access token is not valid."
    : "Sign in with any username, and an access token as the password.";
  return c.text(`${sentence} Create a token at ${env().ORIGIN}/settings/tokens\n`, 401, {
    "Cache-Control": "no-store",
    "WWW-Authenticate": basicChallenge,
  });
}

function toServiceError(thrown: Error): ServiceError {
  if (isServiceError(thrown)) return thrown;
  if (isDatabaseDown(thrown)) {
    return new ServiceError("unavailable", "The service cannot reach its database. Try again.", {
      cause: thrown,
      retryAfterSeconds: 2,
    });
  }
  log().error({ err: thrown }, "a git request failed");
  return new ServiceError("server_error", "Something went wrong on our side.", { cause: thrown });
}
