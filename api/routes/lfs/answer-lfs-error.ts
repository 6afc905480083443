import type { Context } from "hono";
import { answerError } from "../../answer-error.ts";
import { basicChallenge } from "../../git-actor.ts";

export const LFS_MEDIA_TYPE = "application/vnd.git-lfs+json";

export function lfsBody(c: Context, body: object, status = 200): Response {
  return c.body(JSON.stringify(body), status as 200, { "Content-Type": LFS_MEDIA_TYPE, "Cache-Control": "no-store" });
}

/** A failure as git-lfs reads it: `message`, in its own media type, besides what the hub's clients read. */
export async function answerLfsError(thrown: Error, c: Context): Promise<Response> {
  const answered = answerError(thrown, c);
  const body = (await answered.json()) as { error: string };
  const headers = new Headers(answered.headers);
  headers.set("Content-Type", LFS_MEDIA_TYPE);
  // With a Bearer challenge git would not ask its user for a token.
  if (answered.status === 401) {
    headers.set("WWW-Authenticate", basicChallenge);
    headers.set("LFS-Authenticate", basicChallenge);
  }
  const requestId = c.req.header("X-Request-Id");
  return new Response(JSON.stringify({ message: body.error, ...body, ...(requestId && { request_id: requestId }) }), {
    status: isBadBatch(c, answered.status) ? 422 : answered.status,
    headers,
  });
}

/** The batch API's status for a request that makes no sense. */
const isBadBatch = (c: Context, status: number): boolean => status === 400 && c.req.path.endsWith("/objects/batch");
