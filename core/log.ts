import { AsyncLocalStorage } from "node:async_hooks";
import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import { env } from "./env.ts";

export type RequestContext = {
  requestId: string;
  /** The path and query as sent, because Next does not pass them to pages. */
  address?: string;
  theme?: "light" | "dark";
  ip?: string | null;
  party?: { key: string; isAnonymous: boolean };
  workMs?: number;
  /**
   * The listener is called when the response is over or the client has disconnected.
   * @returns a function that stops listening
   */
  whenClosed?: (listener: () => void) => () => void;
  sendAfter?: (bytes: number) => number;
  /** Whether others wait for the slot of this response. */
  mustYield?: () => boolean;
  traceparent?: string;
  /** The status of a page. Next itself allows only 200, 404 and redirects. */
  pageStatus?: number;
  pageRetryAfter?: number;
  /** Whether a page or an action has begun. An earlier error is about a form that Next cannot read (instrumentation.ts). */
  hasBegun?: boolean;
  /** The reason for a page's failure, from its error (instrumentation.ts); absent for a fault of the service. */
  failure?: Failure;
};

export type Failure = {
  status: number;
  error: string;
  /** One sentence without its full stop. */
  description: string;
};

// The context is on `globalThis`, because each bundle of Next has its own instance of this module.
const keeper = globalThis as typeof globalThis & { keyhookRequestContext?: AsyncLocalStorage<RequestContext> };
keeper.keyhookRequestContext ??= new AsyncLocalStorage();
export const requestContext = keeper.keyhookRequestContext;

let root: Logger | undefined;

export function log(): Logger {
  root ??= makeLogger();
  return root;
}

export function replaceLogger(logger: Logger): void {
  root = logger;
}

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

/** These fields may contain a credential (S55, S130). */
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

/** pino's own `redact` with wildcards is ten times slower. */
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
