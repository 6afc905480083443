import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { env } from "#core/env.ts";
import { measureBusy, StrangerPace } from "#core/fair-queue/pace-strangers.ts";
import { currentParty } from "#core/fair-queue/party.ts";
import { type Failure, requestContext } from "#core/log.ts";
import { isRelayPath } from "#core/relay/relay-target.ts";
import { isAppPath } from "#core/spaces/door/app-target.ts";
import { cookieOf } from "./cookie-of.ts";
import { doorOf } from "./request-door.ts";
import { whenClosed } from "./when-closed.ts";

/** About how long the process works for a request of each door, in milliseconds. The protocol and relays have limits of their own. */
const COST_MS = { page: 10, api: 3, git: 1, asset: 0, oauth: 0 } as const;
const APP_COST_MS = 1;

/** For how long credentials that were somebody's pass, and how many are remembered. */
const KNOWN_MS = 15 * 60_000;
const KNOWN_MAX = 50_000;

const tooMany: Failure = {
  status: 429,
  error: "rate_limited",
  description: "The service is busy, and your address has sent too many requests without signing in. Sign in, or try again later",
};

/**
 * Lets a stranger's request wait for its turn while the process is busy (core/fair-queue/pace-strangers.ts). Who signs in is found only
 * by the work that this protects, so every request counts for its address at first. One that turns out to be signed in is taken back,
 * and its credentials pass from then on.
 * @returns why the request is refused; undefined when it may go on. A promise only when it has to wait.
 */
export function admitStranger(
  req: IncomingMessage,
  res: ServerResponse,
  pathname: string,
): Failure | undefined | Promise<Failure | undefined> {
  const percent = env().ANONYMOUS_ADDRESS_PERCENT;
  const cost = costOf(pathname);
  if (percent === 100 || cost === 0) return undefined;
  const context = requestContext.getStore();
  const credentials = credentialsOf(req);
  if (!context || (credentials && isKnown(credentials))) return undefined;
  pace ??= new StrangerPace({ percent, isBusy: measureBusy() });
  const strangers = pace;
  // Apart, so that strangers of the same address do not keep anybody's first request with a token or a session waiting.
  const key = credentials ? `${currentParty().key} claimed` : currentParty().key;
  const admission = strangers.admit(key, cost);
  if ("retryAfterSeconds" in admission) {
    const seconds = admission.retryAfterSeconds;
    res.setHeader("Retry-After", seconds);
    // Clients of the public hub read this one (draft-ietf-httpapi-ratelimit-headers).
    res.setHeader("RateLimit", `"anonymous";r=0;t=${seconds}`);
    return tooMany;
  }
  if (credentials) {
    whenClosed(res, () => {
      if (context.party?.isAnonymous !== false) return;
      strangers.refund(key, cost);
      remember(credentials);
    });
  }
  if (admission.waitMs > 0) return strangers.wait(admission.waitMs).then(() => undefined);
  return undefined;
}

function costOf(pathname: string): number {
  if (isRelayPath(pathname)) return 0;
  return isAppPath(pathname) ? APP_COST_MS : COST_MS[doorOf(pathname)];
}

let pace: StrangerPace | undefined;

/** Until when credentials pass, by their hash: secrets are not kept (S1). The oldest are first. */
const known = new Map<string, number>();

function credentialsOf(req: IncomingMessage): string | undefined {
  const given = req.headers.authorization ?? cookieOf(req, siteSessionCookie().name);
  return given && createHash("sha256").update(given).digest("base64url");
}

const isKnown = (credentials: string): boolean => (known.get(credentials) ?? 0) > Date.now();

function remember(credentials: string): void {
  known.delete(credentials);
  known.set(credentials, Date.now() + KNOWN_MS);
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value as string);
}
