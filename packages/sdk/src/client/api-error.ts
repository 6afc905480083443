import { z } from "zod";

/** What went wrong with a request, whether the service refused it or it never arrived. `message` says what to do about it. */
export class ApiError extends Error {
  override readonly name: string = "ApiError";
  /** The HTTP status; 0 where there was no answer, or none that could be read to its end. */
  readonly status: number;
  /**
   * A word for programs: that of `X-Error-Code` (`RepoNotFound`) or else of the body (`insufficient_scope`). The client's own are
   * `network`, `timeout`, `unexpected_answer` and `redirected`; `http_<status>` of an answer that names none.
   */
  readonly code: string;
  /** What the service calls the request in its log: tell its operator. */
  readonly requestId?: string;
  /** How long to wait before it is worth asking again, in seconds. */
  readonly retryAfterSeconds?: number;
  /** The field or parameter that the service did not take. */
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

/** Read field by field: what an answer has of it is used, whatever the rest is like. */
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

/** An answer that is not 2xx. `text` is its body, or the beginning of it. */
export function errorOfAnswer({ status, headers }: Response, text: string, asked: string): ApiError {
  const said = body.safeParse(parse(text)).data ?? empty;
  // OAuth endpoints have their code where the API has its sentence (RFC 6749 §5.2).
  const isCode = said.error !== undefined && /^[a-z_]+$/.test(said.error);
  const code = headers.get("x-error-code") ?? said.code ?? (isCode ? said.error : undefined) ?? `http_${status}`;
  const sentence = said.error_description ?? (isCode ? undefined : said.error) ?? said.message;
  const retryAfterSeconds = readRetryAfter(headers.get("retry-after"));
  const requestId = headers.get("x-request-id") ?? undefined;
  const message = `${ended(sentence ?? `${asked} was answered with status ${status}`)}${advice(status, code, said.scope, retryAfterSeconds)}`;
  return new ApiError(requestId ? `${message} (request ${requestId})` : message, {
    status,
    code,
    requestId,
    retryAfterSeconds,
    field: said.field,
    scope: said.scope,
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
  if (code === "invalid_client") return " Check the client id and its secret.";
  if (status === 401) return " Sign in again, or give the client a token that is valid.";
  if (code === "insufficient_scope" && scope) return ` Use a token with the scope ${scope}.`;
  if (status === 429 || status === 503) {
    return retryAfterSeconds === undefined ? " Try again later." : ` Try again in ${retryAfterSeconds} s.`;
  }
  if (status === 502 || status === 504)
    return " The service is not reachable through its proxy: try again, or tell its operator.";
  return "";
}

/**
 * `Retry-After` as seconds from now: a number of them, or a date.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 */
export function readRetryAfter(value: string | null, now = Date.now()): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  // An HTTP date begins with the day's name; `Date.parse` alone takes "-5" for a year.
  if (!/^[A-Z][a-z]{2}/.test(value.trim())) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}
