import { z } from "zod";

/**
 * A request that failed, because the service refused it or because there was no usable response. `message` says why and, if the caller can
 * do something about it, what.
 * @example
 * ```ts
 * try {
 *   await client.webhooks.get(id);
 * } catch (error) {
 *   if (!(error instanceof ApiError)) throw error;
 *   if (error.code === "insufficient_scope") console.log(`Request the scope ${error.scope}`);
 * }
 * ```
 * @group Errors
 */
export class ApiError extends Error {
  override readonly name: string = "ApiError";
  /** The HTTP status; 0 if there was no complete response, or if a check of the SDK failed. */
  readonly status: number;
  /**
   * The code for programs: the header `X-Error-Code` (`RepoNotFound`), or else the body's code (`insufficient_scope`). The SDK's own codes
   * are `network`, `timeout`, `unexpected_answer` and `redirected`, and `http_<status>` for a response without a code.
   */
  readonly code: string;
  /** The request's ID in the service's log, for its operator. */
  readonly requestId?: string;
  /** Seconds to wait before another attempt makes sense (RFC 9110 §10.2.3). */
  readonly retryAfterSeconds?: number;
  /** The field or parameter that the service rejected. */
  readonly field?: string;
  /** The scope that the token lacks (RFC 6750 §3.1). */
  readonly scope?: string;

  constructor(message: string, facts: ApiErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    if (facts.requestId !== undefined) this.requestId = facts.requestId;
    if (facts.retryAfterSeconds !== undefined) this.retryAfterSeconds = facts.retryAfterSeconds;
    if (facts.field !== undefined) this.field = facts.field;
    if (facts.scope !== undefined) this.scope = facts.scope;
  }
}

export type ApiErrorFacts = {
  status: number;
  code: string;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  field?: string | undefined;
  scope?: string | undefined;
  cause?: unknown;
};

/** Each field is read separately, so that a field with the wrong type does not hide the other fields. */
const optional = z.string().optional().catch(undefined);
const body = z.object({
  error: optional,
  error_description: optional,
  message: optional,
  code: optional,
  field: optional,
  scope: optional,
});
const empty: z.infer<typeof body> = {};

export const unexpectedContent = (message: string, cause?: unknown): ApiError =>
  new ApiError(message, { status: 200, code: "unexpected_answer", cause });

/** `text` is the body of a response that is not 2xx, or the beginning of this body. */
export function errorOfAnswer({ status, headers }: Response, text: string, asked: string): ApiError {
  const fields = body.safeParse(parse(text)).data ?? empty;
  // OAuth endpoints have the code in the field in which the API has the message (RFC 6749 §5.2).
  const isCode = fields.error !== undefined && /^[a-z_]+$/.test(fields.error);
  const code = headers.get("x-error-code") ?? fields.code ?? (isCode ? fields.error : undefined) ?? `http_${status}`;
  const sentence = fields.error_description ?? (isCode ? undefined : fields.error) ?? fields.message;
  const retryAfterSeconds = readRetryAfter(headers.get("retry-after"));
  const requestId = headers.get("x-request-id") ?? undefined;
  const said = ended(sentence ?? `${asked} failed with status ${status}`);
  const isAdvised = /\btry again\b/i.test(said);
  const message = isAdvised ? said : said + advice(status, code, fields.scope, retryAfterSeconds);
  return new ApiError(requestId ? `${message} (request ${requestId})` : message, {
    status,
    code,
    requestId,
    retryAfterSeconds,
    field: fields.field,
    scope: fields.scope,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);

function advice(status: number, code: string, scope: string | undefined, retryAfterSeconds: number | undefined): string {
  if (code === "invalid_client") return " Check the client ID and its secret.";
  if (status === 401) return " Sign in again, or give the client a valid token.";
  if (code === "insufficient_scope" && scope) return ` Use a token with the scope ${scope}.`;
  if (status === 429 || status === 503) {
    return retryAfterSeconds === undefined ? " Try again later." : ` Try again in ${retryAfterSeconds} s.`;
  }
  if (status === 502 || status === 504)
    return " The service is not reachable through its proxy. Try again, or contact its operator.";
  return "";
}

/** A number of seconds or a date, as seconds from now (RFC 9110 §10.2.3). */
export function readRetryAfter(value: string | null, now = Date.now()): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  // An HTTP date begins with the day's name. `Date.parse` alone would accept "-5" as a year.
  if (!/^[A-Z][a-z]{2}/.test(value.trim())) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}
