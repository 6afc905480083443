import type { JSONWebKeySet } from "jose";
import { discoverKeys } from "./discover-keys.ts";
import { IssuerUnusable } from "./fetch-json.ts";

/**
 * Caches issuers' key sets in this process. Only issuers trusted by somebody here are ever contacted, however many tokens
 * arrive, and each at a limited rate: anybody can send a token that names one (S98).
 */
const FRESH_MIN_SECONDS = 60;
/** A key that its issuer has removed is rejected here after at most this long. */
const FRESH_MAX_SECONDS = 60 * 60;
const FRESH_UNLESS_TOLD_SECONDS = 10 * 60;
/** After a failure, or a search for a missing key, an issuer is not contacted for this long. */
export const REST_MS = 5_000;
const ISSUERS_MAX = 500;

type Entry = {
  keySet?: JSONWebKeySet;
  freshUntil: number;
  /** When it was last asked, whatever the result. */
  askedAt: number;
  failure?: IssuerUnusable;
  /** All callers meanwhile wait for the same response. */
  asking?: Promise<JSONWebKeySet>;
};

const issuers = new Map<string, Entry>();

/**
 * The keys of an issuer. @param isKeyUnknown a token names a key that is not cached: the issuer may have changed its keys.
 * @throws IssuerUnusable
 */
export async function issuerKeys(issuer: string, { isKeyUnknown = false } = {}): Promise<JSONWebKeySet> {
  const entry = entryOf(issuer);
  if (entry.asking) return entry.asking;
  const isResting = Date.now() - entry.askedAt < REST_MS;
  const fresh = freshKeys(entry);
  if (fresh && (!isKeyUnknown || isResting)) return fresh;
  if (entry.failure && isResting) throw entry.failure;
  entry.asking = ask(issuer, entry).finally(() => {
    delete entry.asking;
  });
  return entry.asking;
}

async function ask(issuer: string, entry: Entry): Promise<JSONWebKeySet> {
  try {
    const { keySet, maxAgeSeconds = FRESH_UNLESS_TOLD_SECONDS } = await discoverKeys(issuer);
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
    entry.askedAt = Date.now();
  }
}

const freshKeys = ({ keySet, freshUntil }: Entry): JSONWebKeySet | undefined => (freshUntil > Date.now() ? keySet : undefined);

function entryOf(issuer: string): Entry {
  const known = issuers.get(issuer);
  // The most recently used one is evicted last.
  issuers.delete(issuer);
  const entry = known ?? { freshUntil: 0, askedAt: 0 };
  issuers.set(issuer, entry);
  if (issuers.size > ISSUERS_MAX) issuers.delete(issuers.keys().next().value as string);
  return entry;
}
