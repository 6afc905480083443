import type { JSONWebKeySet } from "jose";
import { discoverKeys } from "./discover-keys.ts";
import { IssuerUnusable } from "./fetch-json.ts";

/**
 * Key sets of issuers, kept in this process. Only issuers that somebody here trusts are ever asked, however many tokens come in, and
 * each at most so often: anybody can send a token that names one (S98).
 */
const FRESH_MIN_SECONDS = 60;
/** A key that its issuer has taken away is worth nothing here after this long. */
const FRESH_MAX_SECONDS = 60 * 60;
const FRESH_UNLESS_TOLD_SECONDS = 10 * 60;
/** After a failure, and after a look for a key that was not there, an issuer is left alone for this long. */
export const REST_MS = 5_000;
const ISSUERS_MAX = 500;

type Entry = {
  keySet?: JSONWebKeySet;
  freshUntil: number;
  /** The last time that it was asked, whatever came of it. */
  askedAt: number;
  failure?: IssuerUnusable;
  /** Everybody who asks meanwhile waits for the same answer. */
  asking?: Promise<JSONWebKeySet>;
};

const issuers = new Map<string, Entry>();

/**
 * The keys of an issuer. @param isKeyUnknown a token names a key that is not among those kept: the issuer may have changed them.
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
    // A token with a key of nobody's must not cost the others the keys that are good still.
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
  // The one used last is the last to go.
  issuers.delete(issuer);
  const entry = known ?? { freshUntil: 0, askedAt: 0 };
  issuers.set(issuer, entry);
  if (issuers.size > ISSUERS_MAX) issuers.delete(issuers.keys().next().value as string);
  return entry;
}
