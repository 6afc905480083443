import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { env } from "#core/env.ts";
import { currentParty, isPlatform, type Party } from "#core/fair-queue/party.ts";
import { measureBusy, type PaceOptions, RequestPace } from "#core/fair-queue/request-pace.ts";
import { type Failure, type RequestContext, requestContext } from "#core/log.ts";
import { isRelayPath } from "#core/relay/relay.ts";
import { isAppPath } from "#core/spaces/door/find-app.ts";
import { pacedSeen, type RequestDoor } from "#core/telemetry.ts";
import { whenClosed } from "./connections.ts";
import { cookieOf } from "./read-request.ts";
import { doorOf } from "./request-door.ts";

const COST_MS = { page: 10, api: 3, git: 1, asset: 1, oauth: 2 } as const;
const PASSED_ON_COST_MS = 1;

const KNOWN_MS = 15 * 60_000;
const KNOWN_MAX = 50_000;

type PaceRefusal = Failure & { retryAfterSeconds: number; headers: Record<string, string> };

/**
 * Finding the account is itself work that may have to wait, so the first request with new credentials counts for its address.
 * @returns why the request is refused, as a promise only if the request has to wait
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
  const cost = costOf(pathname, req);
  const door = isRelayPath(pathname) ? "relay" : doorOf(pathname);
  // On protocol endpoints, mostly apps authenticate, not accounts. On a relay, only the handler knows the caller.
  const credentials = door === "oauth" || door === "relay" ? undefined : credentialsOf(req);
  const account = credentials === undefined ? undefined : accountOf(credentials);
  if (account && isPlatform(account)) return undefined; // A platform has a limit of its own (api/require-platform.ts).
  if (credentials) {
    whenClosed(connection, () => {
      if (context.party && !context.party.isAnonymous) remember(credentials, context.party);
    });
  }
  const key = account?.key ?? keyOfAddress(door, credentials);
  const kind = account ? "account" : door === "oauth" ? "protocol" : "address";
  const admission = pace.admit(key, cost, kind);
  context.sendAfter = (bytes) => pace?.sendAfter(key, bytes) ?? 0;
  if ("waitMs" in admission) {
    if (/^\/(api|xet|v1)\//.test(pathname) || (door === "page" && cost === COST_MS.page))
      chargeFor(connection, { cost, context, charge: (workMs) => pace?.charge(key, workMs, kind) });
    if (PROVING.has(pathname)) ifItSucceeds(connection, () => pace?.giveBack(key, cost, kind));
    if (admission.waitMs === 0) return undefined;
    pacedSeen.publish({ party: kind, outcome: "waited" });
    return pace.wait(key, cost, admission.waitMs, kind).then(() => undefined);
  }
  const { retryAfterSeconds } = admission;
  pacedSeen.publish({ party: kind, outcome: "refused" });
  // The header follows draft-ietf-httpapi-ratelimit-headers.
  const limit = `"${account ? "account" : "anonymous"}";r=0;t=${retryAfterSeconds}`;
  return {
    ...{ status: 429, error: "rate_limited", description: `The service is busy, and ${account ? OF_ACCOUNT : OF_ADDRESS}` },
    ...{ retryAfterSeconds, headers: { "Retry-After": String(retryAfterSeconds), RateLimit: limit } },
  };
}

/** A megabyte of JSON takes about ten milliseconds. */
const BYTES_PER_MS = 100_000;

/** The estimated cost is corrected afterwards, because similar requests may differ by a factor of a thousand. */
function chargeFor(
  connection: ServerResponse | Duplex,
  { cost, context, charge }: { cost: number; context: RequestContext; charge: (workMs: number) => void },
): void {
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
    const isMade = /^(application\/(json|x-xet-shard)|text\/(html|x-component))/.test(
      String(connection.getHeader("content-type")),
    );
    const workMs = (isMade ? bytes / BYTES_PER_MS : 0) + (context.workMs ?? 0) - cost;
    if (workMs > 0) charge(workMs);
  });
}

/**
 * One site's server makes the requests of all its users, so successful requests are refunded. They are counted first, because
 * thousands of failing requests would be admitted otherwise.
 */
const PROVING: ReadonlySet<string> = new Set(["/oauth/token", "/oauth/userinfo", "/oauth/introspect"]);

function ifItSucceeds(connection: ServerResponse | Duplex, giveBack: () => void): void {
  if (!("statusCode" in connection)) return;
  // If the client has left, the status is still the initial one.
  whenClosed(connection, () => void (connection.writableFinished && connection.statusCode < 400 && giveBack()));
}

const OF_ACCOUNT = "your account has sent too many requests. Try again later";
const OF_ADDRESS = "too many requests without a sign-in have come from your IP address. Sign in, or try again later";

/**
 * Each kind of request has a key of its own, so that none uses up another's share. Strangers behind one address must not delay
 * anybody's first request with a session or a token.
 */
function keyOfAddress(door: RequestDoor | "relay", credentials: string | undefined): string {
  const { key } = currentParty();
  if (door === "oauth" || door === "asset" || door === "relay") return `${key} ${door}`;
  return credentials ? `${key} claimed` : key;
}

/** No path of a page may match, because a page costs ten times as much as a passed-on request. */
const LFS_OBJECT = /^\/((models|datasets|spaces)\/)?[^/]+\/[^/]+\/info\/lfs\/objects\/[0-9a-f]{64}(\/|$)/;

const XET_UPLOAD = /^\/xet\/[^/]+\/(v1\/xorbs\/default\/[^/]+|v[12]\/shards)$/;

/** A Xet upload costs the main thread little, because other threads do most of the work. */
const UPLOADED_BYTES_PER_MS = 10_000_000;

function costOf(pathname: string, { headers }: IncomingMessage): number {
  if (XET_UPLOAD.test(pathname)) return COST_MS.api + (Number(headers["content-length"]) || 0) / UPLOADED_BYTES_PER_MS;
  const isPassedOn = isAppPath(pathname) || isRelayPath(pathname) || LFS_OBJECT.test(pathname);
  return isPassedOn ? PASSED_ON_COST_MS : COST_MS[doorOf(pathname)];
}

let pace: RequestPace | undefined;
const newPace = ({ percent = env().ANONYMOUS_ADDRESS_PERCENT, isBusy = measureBusy(), now }: Partial<PaceOptions>) =>
  new RequestPace({ percent, isBusy, ...(now && { now }) });

/** For tests, because on a busy machine every process counts as busy. */
export function restartPace(options: Partial<PaceOptions>): void {
  pace = newPace(options);
}

/** The keys are hashes of credentials, because tokens are not stored (S55). The oldest entries come first. */
const known = new Map<string, Party & { until: number }>();

function credentialsOf(req: IncomingMessage): string | undefined {
  const { authorization } = req.headers;
  const session = cookieOf(req, siteSessionCookie().name);
  if (!authorization && !session) return undefined;
  // Both are hashed together, because a proxy with a password of its own sends one header for everybody, and pages use only the session.
  return hash("sha256", JSON.stringify([authorization, session]), "base64url");
}

function accountOf(credentials: string): Party | undefined {
  const account = known.get(credentials);
  return account && account.until > Date.now() ? account : undefined;
}

/** How many credentials of an account are remembered. One session with ten values of `Authorization` counts as ten. */
export const KNOWN_OF_ACCOUNT_MAX = 200;
const knownOf = new Map<string, Set<string>>();

export const knownCredentials = (): number => known.size;

function remember(credentials: string, party: Party): void {
  forget(credentials);
  const own = knownOf.get(party.key) ?? new Set();
  knownOf.set(party.key, own.add(credentials));
  known.set(credentials, { ...party, until: Date.now() + KNOWN_MS });
  if (own.size > KNOWN_OF_ACCOUNT_MAX) forget(own.values().next().value as string);
  if (known.size > KNOWN_MAX) forget(known.keys().next().value as string);
}

function forget(credentials: string): void {
  const account = known.get(credentials)?.key;
  known.delete(credentials);
  const own = account === undefined ? undefined : knownOf.get(account);
  own?.delete(credentials);
  if (account !== undefined && own?.size === 0) knownOf.delete(account);
}
