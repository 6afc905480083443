import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { rotateSigningKeys } from "./keys.ts";

/** `next` is published and does not sign yet, `retiring` signs no more and is published, `retired` is neither. */
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

/** The keys that sign ID tokens, the newest first, without their private parts. @throws ServiceError `forbidden` */
export async function listSigningKeys(actor: Actor): Promise<ListedSigningKey[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const rows = await db().signingKey.findMany({
    orderBy: [{ createdAt: "desc" }, { alg: "desc" }],
    take: KEYS_LISTED_MAX,
    select: { kid: true, alg: true, createdAt: true, activeAt: true, retiredAt: true },
  });
  const now = new Date();
  // Until the next key's turn has come, the one before signs although it is known when it goes.
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

/**
 * Makes new signing keys, as an operator on their page.
 * @param isImmediate after a leak: the new ones sign at once and the present ones are withdrawn.
 * @throws ServiceError `forbidden`, `reauthentication_required`
 */
export async function rotateKeys(actor: Actor, isImmediate: boolean, from: RequestOrigin): Promise<{ activeAt: Date }> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  return rotateSigningKeys({ isImmediate }, { actorId: actorId(actor), from });
}
