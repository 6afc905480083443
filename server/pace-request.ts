import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { env } from "#core/env.ts";
import { currentParty, isPlatform, type Party } from "#core/fair-queue/party.ts";
import { measureBusy, type PaceOptions, RequestPace } from "#core/fair-queue/request-pace.ts";
import { type Failure, requestContext } from "#core/log.ts";
import { isRelayPath } from "#core/relay/relay-target.ts";
import { isAppPath } from "#core/spaces/door/app-target.ts";
import { pacedSeen, type RequestDoor } from "#core/telemetry.ts";
import { cookieOf } from "./cookie-of.ts";
import { doorOf } from "./request-door.ts";
import { whenClosed } from "./when-closed.ts";

/** How long the process works for a request of each door, roughly, in milliseconds. */
const COST_MS = { page: 10, api: 3, git: 1, asset: 1, oauth: 2 } as const;
/** For a request that is mostly passed on: to an app or a relay, and the transfers of Git LFS. */
const PASSED_ON_COST_MS = 1;

/** How long the account of credentials is cached after they were last valid, and for how many credentials. */
const KNOWN_MS = 15 * 60_000;
const KNOWN_MAX = 50_000;

/** Why a request is refused, with its headers. */
export type PaceRefusal = Failure & { retryAfterSeconds: number; headers: Record<string, string> };

/**
 * Makes a request wait for its turn while the process is busy (core/fair-queue/request-pace.ts). Finding out who is signed in is part of
 * the work that this protects. So the first request with a session or a token counts for its address, and the account is cached for the
 * next.
 * @param connection its response, or the socket that it upgrades
 * @returns why the request is refused; undefined if it may proceed. A promise only if it has to wait.
 */
export function paceRequest(
  req: IncomingMessage,
  connection: ServerResponse | Duplex,
  pathname: string,
): PaceRefusal | undefined | Promise<undefined> {
  const percent = env().ANONYMOUS_ADDRESS_PERCENT;
  const context = requestContext.getStore();
  if (percent === 100 || !context) return undefined;
  pace ??= newPace({ percent });
  const cost = costOf(pathname);
  const door = isRelayPath(pathname) ? "relay" : doorOf(pathname);
  // On the protocol's endpoints mostly sites authenticate, in many ways; on a relay, only its handler knows.
  const credentials = door === "oauth" || door === "relay" ? undefined : credentialsOf(req);
  const account = credentials === undefined ? undefined : accountOf(credentials);
  if (account && isPlatform(account)) return undefined; // It has a limit of its own (api/routes/platforms/require-platform.ts).
  if (credentials) {
    whenClosed(connection, () => {
      if (context.party && !context.party.isAnonymous) remember(credentials, context.party);
    });
  }
  const key = account?.key ?? keyOfAddress(door, credentials);
  const kind = account ? "account" : door === "oauth" ? "protocol" : "address";
  const admission = pace.admit(key, cost, kind);
  if ("waitMs" in admission) {
    if (pathname.startsWith("/api/") || (door === "page" && cost === COST_MS.page))
      chargeFor(connection, cost, (workMs) => pace?.charge(key, workMs, kind));
    if (PROVING.has(pathname)) ifItSucceeds(connection, () => pace?.giveBack(key, cost, kind));
    if (admission.waitMs === 0) return undefined;
    pacedSeen.publish({ party: kind, outcome: "waited" });
    return pace.wait(key, cost, admission.waitMs, kind).then(() => undefined);
  }
  const { retryAfterSeconds } = admission;
  pacedSeen.publish({ party: kind, outcome: "refused" });
  // Clients of the public hub read this header (draft-ietf-httpapi-ratelimit-headers).
  const limit = `"${account ? "account" : "anonymous"}";r=0;t=${retryAfterSeconds}`;
  return {
    ...{ status: 429, error: "rate_limited", description: `The service is busy, and ${account ? OF_ACCOUNT : OF_ADDRESS}` },
    ...{ retryAfterSeconds, headers: { "Retry-After": String(retryAfterSeconds), RateLimit: limit } },
  };
}

/** Roughly the rate of reading, writing and sending a response: a megabyte of JSON takes some ten milliseconds. */
const BYTES_PER_MS = 100_000;

/** Charges large responses by their size once it is known: similar requests may differ by a factor of a thousand. */
function chargeFor(connection: ServerResponse | Duplex, cost: number, charge: (workMs: number) => void): void {
  if (!("statusCode" in connection)) return;
  let bytes = 0;
  const { write, end } = connection;
  const counted = (chunk: unknown) => {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) bytes += chunk.length;
  };
  connection.write = ((chunk: unknown, ...rest: unknown[]) => {
    counted(chunk);
    return (write as (...given: unknown[]) => boolean).call(connection, chunk, ...rest);
  }) as typeof write;
  connection.end = ((chunk?: unknown, ...rest: unknown[]) => {
    counted(chunk);
    return (end as (...given: unknown[]) => ServerResponse).call(connection, chunk, ...rest);
  }) as typeof end;
  whenClosed(connection, () => {
    const isMade = /^(application\/json|text\/(html|x-component))/.test(String(connection.getHeader("content-type")));
    const workMs = bytes / BYTES_PER_MS - cost;
    if (isMade && workMs > 0) charge(workMs);
  });
}

/**
 * On these endpoints a request succeeds only with a valid client, code or token. A site's server makes the requests of all its users from
 * one address, and is served as fast as possible: the cost of successful requests is refunded. Until then it counts, or thousands of
 * failing requests would be admitted before the first has failed.
 */
const PROVING: ReadonlySet<string> = new Set(["/oauth/token", "/oauth/userinfo", "/oauth/introspect"]);

function ifItSucceeds(connection: ServerResponse | Duplex, giveBack: () => void): void {
  if (!("statusCode" in connection)) return;
  // If the client has left, the status is still the initial one.
  whenClosed(connection, () => void (connection.writableFinished && connection.statusCode < 400 && giveBack()));
}

const OF_ACCOUNT = "your account has sent too many requests. Try again later";
const OF_ADDRESS = "your address has sent too many requests without signing in. Sign in, or try again later";

/**
 * The protocol, relays and files are counted separately, so that none takes from another or from pages; so are requests with a session or a
 * token, so that strangers behind the same address without one do not delay anybody's first request with one.
 */
function keyOfAddress(door: RequestDoor | "relay", credentials: string | undefined): string {
  const { key } = currentParty();
  if (door === "oauth" || door === "asset" || door === "relay") return `${key} ${door}`;
  return credentials ? `${key} claimed` : key;
}

/** The object of a transfer. No other path may match: a page costs ten times as much. */
const LFS_OBJECT = /^\/((models|datasets|spaces)\/)?[^/]+\/[^/]+\/info\/lfs\/objects\/[0-9a-f]{64}(\/|$)/;

function costOf(pathname: string): number {
  const isPassedOn = isAppPath(pathname) || isRelayPath(pathname) || LFS_OBJECT.test(pathname);
  return isPassedOn ? PASSED_ON_COST_MS : COST_MS[doorOf(pathname)];
}

let pace: RequestPace | undefined;
const newPace = ({ percent = env().ANONYMOUS_ADDRESS_PERCENT, isBusy = measureBusy(), now }: Partial<PaceOptions>) =>
  new RequestPace({ percent, isBusy, ...(now && { now }) });

/** Resets the pace, for tests: on a busy machine each process is busy, and sends many requests slowly. */
export function restartPace(options: Partial<PaceOptions>): void {
  pace = newPace(options);
}

/** The accounts of credentials, by the credentials' hash: tokens themselves are not stored (S55). The oldest come first. */
const known = new Map<string, Party & { until: number }>();

function credentialsOf(req: IncomingMessage): string | undefined {
  const { authorization } = req.headers;
  const session = cookieOf(req, siteSessionCookie().name);
  if (!authorization && !session) return undefined;
  // Both: a proxy with a password of its own sends the same header for everybody, and pages use only the session.
  return createHash("sha256")
    .update(JSON.stringify([authorization, session]))
    .digest("base64url");
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
