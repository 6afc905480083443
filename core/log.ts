import { AsyncLocalStorage } from "node:async_hooks";
import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import { env } from "./env.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** The request being answered. */
export type RequestContext = {
  /** On every line logged for it and in the `X-Request-Id` header. */
  requestId: string;
  /** Path and query as sent, which Next does not pass to pages. */
  address?: string;
  /** The client's address (core/http/client-address.ts). */
  ip?: string | null;
  /** The caller that the request's expensive work counts against (core/fair-queue/party.ts). */
  party?: { key: string; isAnonymous: boolean };
  /** Calls `listener` once the response is over or the client has disconnected. @returns stops listening */
  whenClosed?: (listener: () => void) => () => void;
  /** Whether others wait for the slot that the response holds. Then a slow reader is disconnected (server/limit-time.ts). */
  yields?: () => boolean;
  /** The trace that the request belongs to (W3C Trace Context), if traces are recorded. */
  traceparent?: string;
  /** The status that a page wants, since Next allows it only 200, 404 and redirects (app/_server/page-status.ts). */
  pageStatus?: number;
  /** After how many seconds a retry may get another status. */
  pageRetryAfter?: number;
  /** Why a page failed, if its error says so (instrumentation.ts); otherwise the fault is ours. */
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

// One per process: each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookRequestContext?: AsyncLocalStorage<RequestContext> };
keeper.keyhookRequestContext ??= new AsyncLocalStorage();
export const requestContext = keeper.keyhookRequestContext;

let root: Logger | undefined;

/** The process's logger: JSON lines on stdout, with the request's id and without secrets. */
export function log(): Logger {
  root ??= makeLogger();
  return root;
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
