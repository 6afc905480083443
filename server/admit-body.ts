import type { IncomingMessage } from "node:http";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { isServiceError } from "#core/errors.ts";
import { bodyHolder, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import type { Failure } from "#core/log.ts";
import { cookieOf } from "./cookie-of.ts";

const signInFirst: Failure = {
  status: 413,
  error: "payload_too_large",
  description: "Sign in before you send anything larger than 64 KiB",
};
const busy: Failure = { status: 503, error: "unavailable", description: "Too many large uploads are arriving. Try again soon" };

/**
 * Whether a page may read the body of this request, and how much of it. Next keeps all of it in memory: more than a form of text requires a
 * signed-in user, and their share of the memory for bodies (S137, S138). Nobody reads meanwhile, so the connection holds back the rest.
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
