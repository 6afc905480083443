import type { Context } from "hono";
import type { z } from "zod";
import { invalidRequest, ServiceError } from "#core/errors.ts";
import { answerError } from "../../answer-error.ts";
import { basicChallenge } from "../../git-request.ts";
import { isForm } from "../../refuse-bad-input.ts";

const LFS_MEDIA_TYPE = "application/vnd.git-lfs+json";

export function lfsBody(c: Context, body: object, status = 200): Response {
  return c.body(JSON.stringify(body), status as 200, { "Content-Type": LFS_MEDIA_TYPE, "Cache-Control": "no-store" });
}

export async function answerLfsError(thrown: Error, c: Context): Promise<Response> {
  const answered = answerError(thrown, c);
  const body = (await answered.json()) as { error: string };
  const headers = new Headers(answered.headers);
  headers.set("Content-Type", LFS_MEDIA_TYPE);
  // With a Bearer challenge, git would not prompt for a token.
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

/** Git LFS specifies 422 for an invalid batch. */
const isBadBatch = (c: Context, status: number): boolean => status === 400 && c.req.path.endsWith("/objects/batch");

/** @throws ServiceError `invalid_request` with a sentence about what is wrong */
export async function readJson<Shape extends z.ZodType>(c: Context, shape: Shape): Promise<z.infer<Shape>> {
  // refuse-bad-input.ts does not check forms. The body stays unread, so the connection must close.
  if (isForm(c)) {
    c.header("Connection", "close");
    throw invalidRequest("Send the body as application/vnd.git-lfs+json.");
  }
  const body: unknown = await c.req.json().catch((cause: unknown) => {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ServiceError("invalid_request", "The body is not JSON.", { cause });
  });
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidRequest(`${issue?.path.join(".") || "The body"}: ${issue?.message ?? "not understood"}.`);
}
