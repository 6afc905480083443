import type { IncomingMessage } from "node:http";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { isServiceError } from "#core/errors.ts";
import { bodyHolder, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import type { Failure } from "#core/log.ts";
import { cookieOf } from "./read-request.ts";

/**
 * Counts a body as it arrives, regardless of its reader: a length can be omitted, and Next reads up to its own limits, which route handlers
 * do not have.
 *
 * @param maxBytes called again for each part that arrives: the sender may become known later.
 * @param exceeded is called once, at the first excess byte; later bytes are read and dropped.
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
 * Whether a page may read the body of this request, and how much of it. Next keeps the whole body in memory, so one that is larger than a
 * form of text requires a signed-in user, and counts against their share of the memory for bodies (S137, S138). Until this has decided,
 * nothing reads the body, so most of it is not sent yet.
 * @returns how many bytes are accepted, or why none are
 */
export async function admitBody(req: IncomingMessage, maxBytes: number): Promise<number | Failure> {
  const isChunked = req.headers["transfer-encoding"] !== undefined;
  const bytes = isChunked ? maxBytes : Number(req.headers["content-length"] ?? 0);
  if (bytes <= SMALL_BODY_BYTES) return maxBytes;
  const token = cookieOf(req, siteSessionCookie().name);
  const session = token && (await findSiteSession(token));
  // A body without a length may be a small one.
  if (!session) return isChunked ? SMALL_BODY_BYTES : signInFirst;
  try {
    bodyHolder({ key: `account ${session.userId}`, isAnonymous: false })(bytes);
    return maxBytes;
  } catch (error) {
    if (isServiceError(error)) return busy;
    throw error;
  }
}
