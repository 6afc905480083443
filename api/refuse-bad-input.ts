import type { MiddlewareHandler } from "hono";
import { ServiceError } from "#core/errors.ts";
import { malformedParameters } from "#core/http/malformed-parameters.ts";

const BODY_MAX_BYTES = 64 * 1024;

/**
 * Refuses, before any route, what no route could make sense of (S51, S138): a query that is no text, and a body larger than this
 * API takes.
 * @throws ServiceError `invalid_request`, `payload_too_large`
 */
export const refuseBadInput: MiddlewareHandler = async (c, next) => {
  const query = c.req.url.split("?").slice(1).join("?");
  const problem = query && malformedParameters(query);
  if (problem) throw new ServiceError("invalid_request", `Not understood: ${problem}.`);
  if (Number(c.req.header("Content-Length") ?? 0) > BODY_MAX_BYTES) {
    throw new ServiceError("payload_too_large", `The body is larger than ${BODY_MAX_BYTES / 1024} KiB.`);
  }
  await next();
};
