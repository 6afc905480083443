import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import { isDatabaseDown } from "#core/db.ts";
import { env } from "#core/env.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";
import { log } from "#core/log.ts";
import { basicChallenge } from "../../git-actor.ts";

/**
 * Failures in git's form: it prints a plain-text body, and asks for credentials when told to. A caller without credentials gets the same
 * response for what does not exist, what is private and what requires an account, so that these cannot be distinguished (S136).
 */
export function answerGitError(thrown: Error, c: Context): Response {
  const error = toServiceError(thrown);
  // After its first byte a response cannot change; git notices that it ends early.
  if (c.env?.outgoing?.headersSent) {
    c.env.outgoing.destroy();
    return RESPONSE_ALREADY_SENT;
  }
  const isAsked = error.code === "unauthorized" || (error.code === "not_found" && !c.req.header("Authorization"));
  if (!isAsked) {
    const headers: Record<string, string> = { "Cache-Control": "no-store" };
    if (error.retryAfterSeconds !== undefined) headers["Retry-After"] = String(error.retryAfterSeconds);
    if (error.wireCode) headers["X-Error-Code"] = error.wireCode;
    return c.text(`${error.message}\n`, error.status as 400, headers);
  }
  const sentence = c.req.header("Authorization")
    ? "That access token is not valid any more, or never was."
    : "Sign in with any user name and an access token as the password.";
  return c.text(`${sentence} Make one at ${env().ORIGIN}/settings/tokens\n`, 401, {
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
