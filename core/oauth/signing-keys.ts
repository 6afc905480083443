import { createPublicKey, generateKeyPairSync, type JsonWebKey, randomUUID, verify } from "node:crypto";
import type { JWK } from "oidc-provider";
import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { seal, unseal } from "#core/crypto/seal.ts";
import { type Db, db } from "#core/db.ts";
import { env } from "#core/env.ts";

/** A key is published before its first signature, and until its last ID token has expired (S107). */
const algorithms = ["RS256", "ES256"] as const;
type Algorithm = (typeof algorithms)[number];

const PURPOSE = "signing keys";
export const SIGNING_KEYS_CHANNEL = "signing_key";
/** How long relying parties may cache the key set. */
export const KEYS_CACHED_SECONDS = 5 * 60;
/** Longer than the cache time, because some relying parties cache for longer than allowed. */
export const PUBLISH_AHEAD_SECONDS = 3 * KEYS_CACHED_SECONDS;
/** An ID token lives for an hour. The other hour is a margin for clocks. */
const RETIRE_AFTER_SECONDS = 2 * 3600;

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
  const rank = (activeAt: Date): number => (activeAt.getTime() <= now ? now - activeAt.getTime() : Number.MAX_SAFE_INTEGER);
  rows.sort((a, b) => rank(a.activeAt) - rank(b.activeAt));
  return rows.map((row) => JSON.parse(unseal(PURPOSE, row.privateJwk)) as JWK);
}

export async function nextKeyChange(): Promise<Date | undefined> {
  const now = new Date();
  const rows = await db().signingKey.findMany({ where: { OR: [{ activeAt: { gt: now } }, { retiredAt: { gt: now } }] } });
  const moments = rows.flatMap((row) => [row.activeAt, row.retiredAt]).filter((at): at is Date => at !== null && at > now);
  return moments.sort((a, b) => a.getTime() - b.getTime())[0];
}

/** @param isImmediate true after a leak, because a thief could sign in as any user */
export async function rotateSigningKeys(
  { isImmediate = false } = {},
  by: { actor?: Actor; from?: RequestOrigin } = {},
): Promise<{ kids: string[]; activeAt: Date }> {
  const activeAt = new Date(Date.now() + (isImmediate ? 0 : PUBLISH_AHEAD_SECONDS * 1000));
  const retiredAt = new Date(activeAt.getTime() + (isImmediate ? 0 : RETIRE_AFTER_SECONDS * 1000));
  return db().$transaction(async (tx) => {
    if (by.actor) await requirePermission(by.actor, "installation.configure", null, { what: "The installation", tx });
    await tx.$executeRawUnsafe(LOCK);
    const present = isImmediate ? { OR: [{ retiredAt: null }, { retiredAt: { gt: retiredAt } }] } : { retiredAt: null };
    await tx.signingKey.updateMany({ where: present, data: { retiredAt, isWithdrawn: isImmediate } });
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

const LOCK = "SELECT pg_advisory_xact_lock(hashtext('keyhook signing keys'))";

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

/** `next` does not sign yet. `retiring` no longer signs, but is still published. `retired` is no longer published. */
export type SigningKeyState = "next" | "signing" | "retiring" | "retired";

export type ListedSigningKey = {
  kid: string;
  alg: string;
  createdAt: Date;
  activeAt: Date;
  retiredAt: Date | null;
  state: SigningKeyState;
};

const KEYS_LISTED_MAX = 40;

export async function listSigningKeys(actor: Actor): Promise<ListedSigningKey[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const rows = await db().signingKey.findMany({
    orderBy: [{ createdAt: "desc" }, { alg: "desc" }],
    take: KEYS_LISTED_MAX,
    select: { kid: true, alg: true, createdAt: true, activeAt: true, retiredAt: true },
  });
  const now = new Date();
  // A key signs until the next one becomes active, although its `retiredAt` is already set.
  const signs = (alg: string) =>
    rows
      .filter((row) => row.alg === alg && row.activeAt <= now && (row.retiredAt === null || row.retiredAt > now))
      .sort((a, b) => b.activeAt.getTime() - a.activeAt.getTime())[0]?.kid;
  const signing = new Set([...new Set(rows.map(({ alg }) => alg))].map(signs));
  return rows.map((row) => ({ ...row, state: stateOf(row, signing.has(row.kid), now) }));
}

function stateOf(
  { activeAt, retiredAt }: { activeAt: Date; retiredAt: Date | null },
  isSigning: boolean,
  now: Date,
): SigningKeyState {
  if (retiredAt !== null && retiredAt <= now) return "retired";
  if (activeAt > now) return "next";
  return isSigning ? "signing" : "retiring";
}

export function rotateKeys(actor: Actor, isImmediate: boolean, from: RequestOrigin): Promise<{ activeAt: Date }> {
  return rotateSigningKeys({ isImmediate }, { actor, from });
}

type Hint = { header: { kid?: unknown; alg?: unknown }; payload: { iss?: unknown; aud?: unknown; sub?: unknown } };

/**
 * An app may send an ID token as `id_token_hint` weeks after a rotation (S108).
 * @returns undefined if the signature is invalid, or the key was withdrawn because it may have leaked
 */
export async function verifyRetiredHint(jwt: string, clientId: string): Promise<Hint | undefined> {
  const [head = "", body = "", signature = ""] = jwt.split(".");
  const header = parse(head) as Hint["header"];
  const payload = parse(body) as Hint["payload"];
  if (payload.iss !== env().ORIGIN || payload.aud !== clientId || typeof payload.sub !== "string") return undefined;
  if (typeof header.kid !== "string") return undefined;
  const key = await db().signingKey.findUnique({
    where: { kid: header.kid, isWithdrawn: false },
    select: { alg: true, publicJwk: true },
  });
  if (!key || key.alg !== header.alg) return undefined;
  const publicKey = createPublicKey({ key: key.publicJwk as JsonWebKey, format: "jwk" });
  // RFC 7518 §3.4: an ES256 signature is not in DER.
  const options = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
  const isGenuine = verify("sha256", Buffer.from(`${head}.${body}`), options, Buffer.from(signature, "base64url"));
  return isGenuine ? { header, payload } : undefined;
}

function parse(part: string): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
