import { AsyncLocalStorage } from "node:async_hooks";
import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import { env } from "./env.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** The request that is being answered. */
export type RequestContext = {
  /** On every line logged meanwhile and in the `X-Request-Id` header. */
  requestId: string;
  /** Path and query as they were sent, which Next does not tell pages. */
  address?: string;
  /** The client's address (core/http/client-address.ts). */
  ip?: string | null;
  /** Whom the request's expensive work is counted against (core/fair-queue/party.ts). */
  party?: { key: string; isAnonymous: boolean };
  /** Calls `listener` once the answer is over or the client is gone. @returns stops listening */
  whenClosed?: (listener: () => void) => () => void;
  /** Whether somebody else waits for the place that the answer holds. Then a slow reader is ended (server/limit-time.ts). */
  yields?: () => boolean;
  /** Of the trace that the request is part of (W3C Trace Context), where traces are kept. */
  traceparent?: string;
  /** What a page wants its status to be, since Next lets it say only 200, 404 and redirects (app/_server/page-status.ts). */
  pageStatus?: number;
  /** When that status may be another one, in seconds. */
  pageRetryAfter?: number;
  /** Why a page failed, where its error told (instrumentation.ts); without it the fault is ours. */
  failure?: Failure;
};

/** An answer that says that nothing came of the request. */
export type Failure = {
  status: number;
  /** For programs. */
  error: string;
  /** One sentence, without the full stop. */
  description: string;
};

// One for the process: each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookRequestContext?: AsyncLocalStorage<RequestContext> };
keeper.keyhookRequestContext ??= new AsyncLocalStorage();
export const requestContext = keeper.keyhookRequestContext;

let root: Logger | undefined;

/** The process's logger: JSON lines on stdout, with the request's id and without secrets. */
export function log(): Logger {
  root ??= makeLogger();
  return root;
}

/** @param destination where lines go in place of stdout, for tests. */
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
