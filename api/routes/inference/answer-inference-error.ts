import type { Context } from "hono";
import { type ErrorCode, isServiceError } from "#core/errors.ts";
import { answerError } from "../../answer-error.ts";

/** The words by which clients of this API distinguish failures: `type`, and `code` where it differs from ours. */
const words: Record<ErrorCode, { type: string; code?: string }> = {
  invalid_request: { type: "invalid_request_error" },
  payload_too_large: { type: "invalid_request_error" },
  unauthorized: { type: "invalid_request_error", code: "invalid_api_key" },
  insufficient_scope: { type: "permission_error" },
  forbidden: { type: "permission_error" },
  reauthentication_required: { type: "permission_error" },
  quota_exceeded: { type: "insufficient_quota", code: "insufficient_quota" },
  not_found: { type: "invalid_request_error" },
  conflict: { type: "invalid_request_error" },
  gone: { type: "invalid_request_error" },
  precondition_failed: { type: "invalid_request_error" },
  rate_limited: { type: "rate_limit_error", code: "rate_limit_exceeded" },
  upstream_error: { type: "upstream_error" },
  upstream_timeout: { type: "upstream_error" },
  server_error: { type: "server_error" },
  unavailable: { type: "server_error" },
  storage_full: { type: "insufficient_quota" },
};

/** A failure as clients of this API read it, `{ error: { message, type, code, param } }`, with the usual headers of our failures. */
export async function answerInferenceError(thrown: Error, c: Context): Promise<Response> {
  const answered = answerError(thrown, c);
  const { error: message, code } = (await answered.json()) as { error: string; code: ErrorCode };
  const field = isServiceError(thrown) ? thrown.field : undefined;
  const { type, code: word = code } = words[code];
  const isModel = code === "not_found" && field === "model";
  const error = { message, type, code: isModel ? "model_not_found" : word, param: field ?? null };
  return new Response(JSON.stringify({ error }), { status: answered.status, headers: withJson(answered.headers, code) });
}

/** Clients retry automatically after some failures; if a retry cannot help, the header that they read says so. */
function withJson(given: Headers, code: ErrorCode): Headers {
  const headers = new Headers(given);
  headers.set("Content-Type", "application/json; charset=UTF-8");
  if (code === "quota_exceeded") headers.set("X-Should-Retry", "false");
  return headers;
}
