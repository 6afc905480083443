import type { IncomingMessage } from "node:http";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { isServiceError } from "#core/errors.ts";
import { bodyHolder, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import type { Failure } from "#core/log.ts";
import { cookieOf } from "./read-request.ts";

/**
 * A body's length can be omitted, so arriving bytes are counted.
 * @param maxBytes called for each chunk, because the limit may change once the sender is known
 * @param exceeded called once, after which bytes are dropped
 */
export function limitBody(req: IncomingMessage, maxBytes: () => number, exceeded: () => void): void {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes()) {
    exceeded();
    return;
  }
  let received = 0;
  let isOver = false;
  const { push } = req;
  req.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Uint8Array && !isOver) {
      received += chunk.length;
      isOver = received > maxBytes();
      if (isOver) exceeded();
    }
    return isOver || push.call(req, chunk, encoding);
  };
}

const signInFirst: Failure = {
  status: 413,
  error: "payload_too_large",
  description: "Sign in before you send anything larger than 64 KiB",
};
const busy: Failure = {
  status: 503,
  error: "unavailable",
  description: "Too many large uploads are in progress. Try again in a moment",
};

/**
 * Next keeps the whole body in memory, so a large one requires a signed-in user (S137, S138). Nothing reads the body before the
 * decision.
 * @returns how many bytes are accepted, or why none are
 */
export async function admitBody(req: IncomingMessage, maxBytes: number): Promise<number | Failure> {
  const isChunked = req.headers["transfer-encoding"] !== undefined;
  const bytes = isChunked ? maxBytes : Number(req.headers["content-length"] ?? 0);
  if (bytes <= SMALL_BODY_BYTES) return maxBytes;
  const token = cookieOf(req, siteSessionCookie().name);
  const session = token && (await findSiteSession(token));
  // A body without a length may be small.
  if (!session) return isChunked ? SMALL_BODY_BYTES : signInFirst;
  try {
    bodyHolder({ key: `account ${session.userId}`, isAnonymous: false })(bytes);
    return maxBytes;
  } catch (error) {
    if (isServiceError(error)) return busy;
    throw error;
  }
}
