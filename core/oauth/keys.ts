import { generateKeyPairSync, type JsonWebKey, randomUUID } from "node:crypto";
import type { JWK } from "oidc-provider";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { seal, unseal } from "#core/crypto/seal.ts";
import { type Db, db } from "#core/db.ts";

/**
 * The keys that sign ID tokens: one active RS256 and one active ES256 key, in Postgres, encrypted under SECRET_KEY. A new key is published
 * before it signs, and an old one stays published until the last ID token that it signed has expired. So a rotation needs no downtime, and
 * no relying party gets a signature that it cannot verify (S107).
 */
const algorithms = ["RS256", "ES256"] as const;
type Algorithm = (typeof algorithms)[number];

const PURPOSE = "signing keys";
export const SIGNING_KEYS_CHANNEL = "signing_key";
/** How long relying parties may cache the key set, according to its response. */
export const KEYS_CACHED_SECONDS = 5 * 60;
/** How long a new key is published before it signs: three times as long, for relying parties that cache it longer. */
export const PUBLISH_AHEAD_SECONDS = 3 * KEYS_CACHED_SECONDS;
/** How long an old key stays published: an ID token's hour, and a margin for clocks. */
const RETIRE_AFTER_SECONDS = 2 * 3600;

function generateKey(alg: Algorithm): { privateJwk: JsonWebKey; publicJwk: JsonWebKey } {
  const { privateKey, publicKey } =
    alg === "RS256" ? generateKeyPairSync("rsa", { modulusLength: 2048 }) : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { privateJwk: privateKey.export({ format: "jwk" }), publicJwk: publicKey.export({ format: "jwk" }) };
}

async function createKey(tx: Db, alg: Algorithm, activeAt: Date): Promise<string> {
  const kid = randomUUID();
  const { privateJwk, publicJwk } = generateKey(alg);
  const names = { kid, alg, use: "sig" };
  await tx.signingKey.create({
    data: {
      kid,
      alg,
      publicJwk: { ...publicJwk, ...names } as object,
      privateJwk: seal(PURPOSE, JSON.stringify({ ...privateJwk, ...names })),
      activeAt,
    },
  });
  return kid;
}

const LOCK = "SELECT pg_advisory_xact_lock(hashtext('keyhook signing keys'))";

/**
 * Every published key with its private part; for each algorithm, the active one comes first. Creates the first pair if there is none; two
 * processes that start together create one pair.
 */
export async function loadSigningKeys(): Promise<JWK[]> {
  const rows = await db().$transaction(async (tx) => {
    const published = () => tx.signingKey.findMany({ where: { OR: [{ retiredAt: null }, { retiredAt: { gt: new Date() } }] } });
    const found = await published();
    if (found.length > 0) return found;
    await tx.$executeRawUnsafe(LOCK);
    if ((await tx.signingKey.count()) === 0) for (const alg of algorithms) await createKey(tx, alg, new Date());
    return published();
  });
  const now = Date.now();
  // Newest active key first; keys that are not active yet come last.
  const rank = (activeAt: Date): number => (activeAt.getTime() <= now ? now - activeAt.getTime() : Number.MAX_SAFE_INTEGER);
  rows.sort((a, b) => rank(a.activeAt) - rank(b.activeAt));
  return rows.map((row) => JSON.parse(unseal(PURPOSE, row.privateJwk)) as JWK);
}

/** When the set of signing keys next changes by itself: a key becomes active, or an old one is withdrawn. */
export async function nextKeyChange(): Promise<Date | undefined> {
  const now = new Date();
  const rows = await db().signingKey.findMany({ where: { OR: [{ activeAt: { gt: now } }, { retiredAt: { gt: now } }] } });
  const moments = rows.flatMap((row) => [row.activeAt, row.retiredAt]).filter((at): at is Date => at !== null && at > now);
  return moments.sort((a, b) => a.getTime() - b.getTime())[0];
}

/**
 * Publishes a new key for each algorithm and retires the current ones once it has taken over.
 * @param isImmediate for a leaked key: signs with the new keys at once and withdraws the current ones, since whoever has one could sign in
 * as anyone for as long as it is published.
 */
export async function rotateSigningKeys(
  { isImmediate = false } = {},
  by: { actorId?: string | null; from?: RequestOrigin } = {},
): Promise<{ kids: string[]; activeAt: Date }> {
  const activeAt = new Date(Date.now() + (isImmediate ? 0 : PUBLISH_AHEAD_SECONDS * 1000));
  const retiredAt = new Date(activeAt.getTime() + (isImmediate ? 0 : RETIRE_AFTER_SECONDS * 1000));
  return db().$transaction(async (tx) => {
    await tx.$executeRawUnsafe(LOCK);
    const present = isImmediate ? { OR: [{ retiredAt: null }, { retiredAt: { gt: retiredAt } }] } : { retiredAt: null };
    await tx.signingKey.updateMany({ where: present, data: { retiredAt } });
    const kids: string[] = [];
    for (const alg of algorithms) kids.push(await createKey(tx, alg, activeAt));
    await recordAuditEvent(tx, {
      type: "signing_key.rotate",
      data: { kids, activeAt: activeAt.toISOString(), isImmediate },
      ...by,
    });
    await tx.$executeRawUnsafe(`NOTIFY ${SIGNING_KEYS_CHANNEL}`);
    return { kids, activeAt };
  });
}
