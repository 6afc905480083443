import { AsyncLocalStorage } from "node:async_hooks";
import { type Logger, pino } from "pino";
import { env } from "./env.ts";

/** The request that is being answered; its id is on every line logged meanwhile and in the `X-Request-Id` header. */
export const requestContext = new AsyncLocalStorage<{ requestId: string }>();

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
    mixin: () => requestContext.getStore() ?? {},
  });
  return root;
}
