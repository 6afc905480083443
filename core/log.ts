import { AsyncLocalStorage } from "node:async_hooks";
import { type Logger, pino } from "pino";
import { env } from "./env.ts";

/** The request that is being answered. */
export type RequestContext = {
  /** On every line logged meanwhile and in the `X-Request-Id` header. */
  requestId: string;
  /** What a page wants its status to be, since Next lets it say only 200, 404 and redirects (app/_server/page-status.ts). */
  pageStatus?: number;
};

// One for the process: each bundle of Next makes its own module instances (architecture decision 7).
const keeper = globalThis as typeof globalThis & { keyhookRequestContext?: AsyncLocalStorage<RequestContext> };
keeper.keyhookRequestContext ??= new AsyncLocalStorage();
export const requestContext = keeper.keyhookRequestContext;

// Whatever is logged by mistake must not carry a credential: names are cut here, in one place (S55, S130).
const secretNames = [
  "password",
  "secret",
  "client_secret",
  "token",
  "access_token",
  "refresh_token",
  "id_token",
  "code",
  "code_verifier",
  "device_code",
  "authorization",
  "cookie",
  "set-cookie",
];

let root: Logger | undefined;

/** The process's logger: JSON lines on stdout, with the request's id and without secrets. */
export function log(): Logger {
  root ??= pino({
    level: env().LOG_LEVEL,
    redact: { paths: secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]), censor: "[redacted]" },
    mixin: withRequestId,
  });
  return root;
}

function withRequestId(): { requestId?: string } {
  const context = requestContext.getStore();
  return context ? { requestId: context.requestId } : {};
}
