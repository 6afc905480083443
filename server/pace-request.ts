import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { env } from "#core/env.ts";
import { currentParty, isPlatform, type Party } from "#core/fair-queue/party.ts";
import { measureBusy, RequestPace } from "#core/fair-queue/request-pace.ts";
import { type Failure, requestContext } from "#core/log.ts";
import { isRelayPath } from "#core/relay/relay-target.ts";
import { isAppPath } from "#core/spaces/door/app-target.ts";
import { cookieOf } from "./cookie-of.ts";
import { doorOf } from "./request-door.ts";
import { whenClosed } from "./when-closed.ts";

/** About how long the process works for a request of each door, in milliseconds. The protocol and relays have limits of their own. */
const COST_MS = { page: 10, api: 3, git: 1, asset: 0, oauth: 0 } as const;
/** Of a request that is mostly passed on: of an app, and the transfers of Git LFS. */
const PASSED_ON_COST_MS = 1;
/** An account gets five times the part of an address. */
const ACCOUNT_DISCOUNT = 5;

/** How long the account of credentials is remembered, and of how many credentials. */
const KNOWN_MS = 15 * 60_000;
const KNOWN_MAX = 50_000;

/**
 * Lets a request wait for its turn while the process is busy (core/fair-queue/request-pace.ts). Only the work that this protects finds out
 * who is signed in. So the first request with a session or a token counts for its address, and the account is remembered for the next.
 * @returns why the request is refused; undefined when it may go on. A promise only when it has to wait.
 */
export function paceRequest(
  req: IncomingMessage,
  res: ServerResponse,
  pathname: string,
): Failure | undefined | Promise<Failure | undefined> {
  const percent = env().ANONYMOUS_ADDRESS_PERCENT;
  const cost = costOf(pathname);
  const context = requestContext.getStore();
  if (percent === 100 || cost === 0 || !context) return undefined;
  pace ??= new RequestPace({ percent, isBusy: measureBusy() });
  const credentials = credentialsOf(req);
  const account = credentials && accountOf(credentials);
  if (account && isPlatform(account)) return undefined; // It has a limit of its own (api/routes/platforms/require-platform.ts).
  if (credentials && !account) {
    whenClosed(res, () => {
      if (context.party && !context.party.isAnonymous) remember(credentials, context.party);
    });
  }
  // Counted apart, so that strangers behind the same address do not delay anybody's first request with a session or a token.
  const stranger = credentials ? `${currentParty().key} claimed` : currentParty().key;
  const admission = account ? pace.admit(account.key, cost / ACCOUNT_DISCOUNT) : pace.admit(stranger, cost);
  if ("waitMs" in admission) return admission.waitMs > 0 ? pace.wait(admission.waitMs).then(() => undefined) : undefined;
  const seconds = admission.retryAfterSeconds;
  res.setHeader("Retry-After", seconds);
  // Clients of the public hub read this one (draft-ietf-httpapi-ratelimit-headers).
  res.setHeader("RateLimit", `"${account ? "account" : "anonymous"}";r=0;t=${seconds}`);
  return { status: 429, error: "rate_limited", description: `The service is busy, and ${account ? OF_ACCOUNT : OF_ADDRESS}` };
}

const OF_ACCOUNT = "your account has sent too many requests. Try again later";
const OF_ADDRESS = "your address has sent too many requests without signing in. Sign in, or try again later";

function costOf(pathname: string): number {
  if (isRelayPath(pathname)) return 0;
  return isAppPath(pathname) || pathname.includes(".git/info/lfs/objects/") ? PASSED_ON_COST_MS : COST_MS[doorOf(pathname)];
}

let pace: RequestPace | undefined;

/** The accounts of credentials, by the credentials' hash: tokens themselves are not kept (S55). The oldest are first. */
const known = new Map<string, Party & { until: number }>();

function credentialsOf(req: IncomingMessage): string | undefined {
  const given = req.headers.authorization ?? cookieOf(req, siteSessionCookie().name);
  return given && createHash("sha256").update(given).digest("base64url");
}

function accountOf(credentials: string): Party | undefined {
  const account = known.get(credentials);
  return account && account.until > Date.now() ? account : undefined;
}

function remember(credentials: string, party: Party): void {
  known.delete(credentials);
  known.set(credentials, { ...party, until: Date.now() + KNOWN_MS });
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value as string);
}
