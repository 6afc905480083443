import type { JSONWebKeySet } from "jose";
import { isCostlyKey } from "#core/crypto/costly-key.ts";
import { env } from "#core/env.ts";
import { hasLongHost } from "#core/http/has-long-host.ts";
import { log } from "#core/log.ts";
import { loggableAddress } from "#core/outbound/parse-target.ts";
import { sendRequest } from "#core/outbound/send-request.ts";

/** Only trusted issuers are contacted, at a limited rate, because anybody can send a token that names an issuer (S98). */
const FRESH_MIN_SECONDS = 60;
/** A key that its issuer has removed is rejected after at most this long. */
const FRESH_MAX_SECONDS = 60 * 60;
const FRESH_DEFAULT_SECONDS = 10 * 60;
/** The pause after a failed fetch, and after a search for a missing key. */
const RETRY_AFTER_MS = 5_000;
const ISSUERS_MAX = 500;

type Entry = {
  keySet?: JSONWebKeySet;
  freshUntil: number;
  requestedAt: number;
  failure?: IssuerUnusable;
  request?: Promise<JSONWebKeySet>;
};

const issuers = new Map<string, Entry>();

export async function issuerKeys(issuer: string, { isKeyUnknown = false } = {}): Promise<JSONWebKeySet> {
  const entry = entryOf(issuer);
  if (entry.request) return entry.request;
  const isTooSoon = Date.now() - entry.requestedAt < RETRY_AFTER_MS;
  const fresh = freshKeys(entry);
  if (fresh && (!isKeyUnknown || isTooSoon)) return fresh;
  if (entry.failure && isTooSoon) throw entry.failure;
  entry.request = requestKeys(issuer, entry).finally(() => {
    delete entry.request;
  });
  return entry.request;
}

async function requestKeys(issuer: string, entry: Entry): Promise<JSONWebKeySet> {
  try {
    const { keySet, maxAgeSeconds = FRESH_DEFAULT_SECONDS } = await discoverKeys(issuer);
    const seconds = Math.min(Math.max(maxAgeSeconds, FRESH_MIN_SECONDS), FRESH_MAX_SECONDS);
    Object.assign(entry, { keySet, freshUntil: Date.now() + seconds * 1000 });
    delete entry.failure;
    return keySet;
  } catch (error) {
    if (!(error instanceof IssuerUnusable)) throw error;
    // A token with an unknown key must not discard the keys that are still valid.
    const fresh = freshKeys(entry);
    if (fresh) return fresh;
    entry.failure = error;
    throw error;
  } finally {
    entry.requestedAt = Date.now();
  }
}

const freshKeys = ({ keySet, freshUntil }: Entry): JSONWebKeySet | undefined => (freshUntil > Date.now() ? keySet : undefined);

function entryOf(issuer: string): Entry {
  const known = issuers.get(issuer);
  issuers.delete(issuer);
  const entry = known ?? { freshUntil: 0, requestedAt: 0 };
  issuers.set(issuer, entry);
  if (issuers.size > ISSUERS_MAX) issuers.delete(issuers.keys().next().value as string);
  return entry;
}

type DiscoveredKeys = { keySet: JSONWebKeySet; maxAgeSeconds: number | undefined };

const KEYS_MAX = 100;

/** OpenID Connect Discovery §4 and §4.3. Leaves out keys of hostile issuers that take too long to verify with (S137). */
export async function discoverKeys(issuer: string): Promise<DiscoveredKeys> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { value: document } = await fetchJson(address, "the issuer's discovery document");
  if (document.issuer !== issuer) throw new IssuerUnusable("the issuer's discovery document names another issuer");
  const { jwks_uri: keysAddress } = document;
  if (typeof keysAddress !== "string" || hasLongHost(keysAddress) || URL.parse(keysAddress)?.protocol !== "https:") {
    throw new IssuerUnusable("the issuer's discovery document has no https jwks_uri");
  }
  const { value, maxAgeSeconds } = await fetchJson(keysAddress, "the issuer's key set");
  const { keys } = value;
  const isKey = (key: unknown) => typeof key === "object" && key !== null && typeof (key as { kty?: unknown }).kty === "string";
  if (!Array.isArray(keys) || !keys.every(isKey)) throw new IssuerUnusable("the issuer's key set is invalid");
  if (keys.length > KEYS_MAX)
    throw new IssuerUnusable(`the issuer's key set has more than ${KEYS_MAX.toLocaleString("en")} keys`);
  return { keySet: { keys: keys.filter((key) => !isCostlyKey(key)) }, maxAgeSeconds };
}

const MAX_BODY_BYTES = 128 * 1024;
const DEADLINE_MS = 2_500;

type FetchedJson = {
  value: Record<string, unknown>;
  maxAgeSeconds: number | undefined;
};

export class IssuerUnusable extends Error {
  override name = "IssuerUnusable";
}

/** Uses core/outbound, which refuses private addresses (S98, S117). */
async function fetchJson(url: string, what: string): Promise<FetchedJson> {
  const result = await sendRequest({
    url,
    headers: { accept: "application/json" },
    deadlineMs: DEADLINE_MS,
    maxBodyBytes: MAX_BODY_BYTES,
    onExcess: "fail",
    isHttpsRequired: true,
    ports: isAnyPortAllowed() ? undefined : [443],
  });
  if (result.outcome !== "answered") {
    log().info({ address: loggableAddress(url), reason: result.reason }, "an issuer's document could not be fetched");
    throw new IssuerUnusable(`${what} could not be read: ${result.reason}`);
  }
  if (result.status !== 200)
    throw new IssuerUnusable(`${what} could not be read: the server responded with status ${result.status}`);
  const value = parseObject(result.body);
  if (!value) throw new IssuerUnusable(`${what} is not a JSON object`);
  const [, maxAge] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(result.headers["cache-control"] ?? "") ?? [];
  return { value, maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge) };
}

/** Local installations, and those that allow private addresses, allow any port. */
function isAnyPortAllowed(): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(env().ORIGIN).hostname) || env().OUTBOUND_ALLOW_CIDRS.length > 0;
}

function parseObject(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
