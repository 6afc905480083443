import type { Context, MiddlewareHandler } from "hono";
import { ServiceError } from "#core/errors.ts";
import { malformedParameters } from "#core/http/malformed-parameters.ts";
import { type BodyLimit, bodyLimitOf } from "./body-limits.ts";

/**
 * Refuses, before any route, what no route could make sense of (S51, S138): a query that is no text, and a body larger than the
 * address takes, whether or not its length was told.
 * @throws ServiceError `invalid_request`, `payload_too_large`
 */
export const refuseBadInput: MiddlewareHandler = async (c, next) => {
  const query = c.req.url.split("?").slice(1).join("?");
  const problem = query && malformedParameters(query);
  if (problem) throw new ServiceError("invalid_request", `Not understood: ${problem}.`);
  await limitBody(c, bodyLimitOf(new URL(c.req.url).pathname));
  await next();
};

async function limitBody(c: Context, { maxBytes, isStreamed }: BodyLimit): Promise<void> {
  if (maxBytes === null) return;
  const length = c.req.header("Content-Length");
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // Node holds a body to its Content-Length; one that is sent in chunks has none.
  if (length !== undefined || c.req.header("Transfer-Encoding") === undefined || !c.req.raw.body) return;
  const counted = c.req.raw.body.pipeThrough(countBytes(maxBytes));
  const body = isStreamed ? counted : await new Response(counted).arrayBuffer();
  // `duplex` is missing in the types of `RequestInit`.
  const init = { method: c.req.method, headers: c.req.raw.headers, body, signal: c.req.raw.signal, duplex: "half" };
  c.req.raw = new Request(c.req.url, init as RequestInit);
}

/** Lets bytes through as long as there are not too many. */
function countBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let received = 0;
  return new TransformStream({
    transform(chunk, controller) {
      received += chunk.byteLength;
      if (received > maxBytes) controller.error(tooLarge(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}

function tooLarge(maxBytes: number): ServiceError {
  const size = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} KiB` : `${maxBytes / 1024 / 1024} MiB`;
  return new ServiceError("payload_too_large", `The body is larger than ${size}.`);
}
