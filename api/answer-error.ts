import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { isDatabaseDown } from "#core/database-errors.ts";
import { isServiceError, notFound, ServiceError } from "#core/errors.ts";
import { log } from "#core/log.ts";
import { bearerChallenge } from "#core/oauth/resources/resource-servers.ts";
import { challengeOf } from "./bearer.ts";

/** Git's own protocol and the inference gateway format their errors elsewhere. */
export function answerError(thrown: Error, c: Context): Response {
  const error = toServiceError(thrown);
  const headers: Record<string, string> = { "Cache-Control": "no-store", "X-Error-Message": headerText(error.message) };
  if (error.wireCode) headers["X-Error-Code"] = error.wireCode;
  if (error.retryAfterSeconds !== undefined) headers["Retry-After"] = String(error.retryAfterSeconds);
  if (error.code === "unauthorized") {
    headers["WWW-Authenticate"] = bearerChallenge(challengeOf(c, error));
  }
  // RFC 6750 §3.1: a client can request the named scope.
  if (error.code === "insufficient_scope") {
    headers["WWW-Authenticate"] = bearerChallenge({ ...challengeOf(c, error), error: "insufficient_scope", scope: error.scope });
  }
  const { message, code, status, field, scope, requires } = error;
  return c.json(
    {
      error: message,
      code,
      ...(field && { field }),
      ...(scope && { scope }),
      ...(requires && { requires }),
    },
    status as 400,
    headers,
  );
}

/** Clients also request repositories without an owner, which exist only on the public hub. */
const OWNERLESS = /^\/api\/(?:models|datasets|spaces)\/[^/]+(?:\/([a-z-]+)(?:\/.*)?)?$/;
const PARTS = new Set(
  "revision tree paths-info refs commits preupload commit branch tag settings discussions like likers duplicate lfs-files".split(
    " ",
  ),
);
/** No repository here can be named `resolve` or `raw`. */
const OWNERLESS_FILE = /^\/(?:(?:datasets|spaces)\/)?[^/]+\/(?:resolve|raw)\/.+/;

export function answerNotFound(c: Context): Response {
  const [ownerless, part] = OWNERLESS.exec(c.req.path) ?? [];
  if ((ownerless && (!part || PARTS.has(part))) || OWNERLESS_FILE.test(c.req.path)) return answerError(notFound("Repository"), c);
  return answerError(new ServiceError("not_found", "This URL does not exist"), c);
}

function toServiceError(thrown: Error): ServiceError {
  if (isServiceError(thrown)) return thrown;
  if (thrown instanceof HTTPException && thrown.status < 500) return unreadable(thrown);
  if (isDatabaseDown(thrown)) {
    return new ServiceError("unavailable", "The service cannot reach its database; try again", {
      cause: thrown,
      retryAfterSeconds: 2,
    });
  }
  log().error({ err: thrown }, "API request failed");
  return new ServiceError("server_error", "Something went wrong on our side", { cause: thrown });
}

function unreadable(thrown: HTTPException): ServiceError {
  const sentence =
    thrown.status === 415 ? "Send the body in a type that this endpoint accepts, such as application/json" : thrown.message;
  return new ServiceError("invalid_request", `${sentence}.`, { cause: thrown });
}

const headerText = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?");
