import { AsyncLocalStorage } from "node:async_hooks";
import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import { env } from "./env.ts";

/** The request being answered. */
export type RequestContext = {
  /** The request's id: on every line logged for it, and in the `X-Request-Id` header. */
  requestId: string;
  /** Path and query as sent, which Next does not pass to pages. */
  address?: string;
  /** The user's choice for pages; without it, the system's. */
  theme?: "light" | "dark";
  /** The client's address (core/http/client-address.ts). */
  ip?: string | null;
  /** The caller that the request's expensive work counts against (core/fair-queue/party.ts). */
  party?: { key: string; isAnonymous: boolean };
  /** The request's cost in addition to its response's size, in milliseconds (core/fair-queue/party.ts). */
  workMs?: number;
  /** Calls `listener` once the response is over or the client has disconnected. @returns a function that stops listening */
  whenClosed?: (listener: () => void) => () => void;
  /** How long a piece of a long response must wait if its caller is anonymous, in milliseconds (core/fair-queue/send-in-turn.ts). */
  sendAfter?: (bytes: number) => number;
  /** Whether others wait for the slot that the response holds. Then a slow reader is disconnected (server/limit-time.ts). */
  yields?: () => boolean;
  /** The trace that the request belongs to (W3C Trace Context), if traces are recorded. */
  traceparent?: string;
  /** The status that a page sets, since Next itself allows only 200, 404 and redirects (app/_server/page-status.ts). */
  pageStatus?: number;
  /** The page's `Retry-After`, in seconds. */
  pageRetryAfter?: number;
  /** Whether a page or an action has begun. An error before it is about a form that Next cannot read (instrumentation.ts). */
  hasBegun?: boolean;
  /** The reason for a page's failure, from its error (instrumentation.ts); absent for a fault of the service. */
  failure?: Failure;
};

/** The response to a request that failed. */
export type Failure = {
  status: number;
  /** The error code, for programs. */
  error: string;
  /** One sentence, without the full stop. */
  description: string;
};

// There is one storage of contexts per process, on `globalThis`: each bundle of Next makes its own module instances (ARCHITECTURE.md,
// Processes).
const keeper = globalThis as typeof globalThis & { keyhookRequestContext?: AsyncLocalStorage<RequestContext> };
keeper.keyhookRequestContext ??= new AsyncLocalStorage();
export const requestContext = keeper.keyhookRequestContext;

let root: Logger | undefined;

/** The process's logger: JSON lines on stdout, with the request's id and without secrets. */
export function log(): Logger {
  root ??= makeLogger();
  return root;
}

/** Replaces the process's logger. */
export function replaceLogger(logger: Logger): void {
  root = logger;
}

/** @param destination replaces stdout, for tests. */
export function makeLogger(destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level: env().LOG_LEVEL,
    mixin: withRequestId,
    formatters: { log: (fields) => withoutSecrets(fields) as Record<string, unknown> },
    serializers: { err: (error: Error) => withoutSecrets(pino.stdSerializers.err(error)) },
  };
  return destination ? pino(options, destination) : pino(options);
}

function withRequestId(): { requestId?: string } {
  const context = requestContext.getStore();
  return context ? { requestId: context.requestId } : {};
}

/** Names of fields that may contain a credential (S55, S130). */
const secretNames = new Set([
  "password",
  "secret",
  "client_secret",
  "token",
  "access_token",
  "refresh_token",
  "id_token",
  "subject_token",
  "actor_token",
  "code",
  "code_verifier",
  "device_code",
  "authorization",
  "cookie",
  "set-cookie",
  "x-webhook-secret",
  "webhook-signature",
  "secrets",
]);

const DEPTH = 4;

/**
 * The same value, with `[redacted]` for each field named after a credential: credentials must not be logged by accident. The value itself
 * is not changed, and copied only if something is redacted, since nearly every line has nothing to redact. (pino's own `redact` with
 * wildcards takes ten times as long as the line.)
 *
 * An error's `code`, such as ECONNREFUSED, is not a credential and stays.
 */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error || depth === DEPTH) return value;
  const isError = "stack" in value;
  let copy: Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(value)) {
    const isSecret = secretNames.has(name.toLowerCase()) && !(isError && name === "code");
    const clean = isSecret ? "[redacted]" : withoutSecrets(field, depth + 1);
    if (clean === field) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = clean;
  }
  return copy ?? value;
}
