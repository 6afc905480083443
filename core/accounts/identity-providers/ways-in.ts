import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";

/** The ways in which a user can sign in. */
export type WaysIn = {
  hasPassword: boolean;
  passkeys: number;
  /** Identities at the operator's enabled providers. Nobody signs in with an organization's issuer. */
  identities: number;
};

export async function waysIn(userId: string, tx: Db = db()): Promise<WaysIn> {
  const [row] = await tx.$queryRaw<WaysIn[]>`
    SELECT u.password_hash IS NOT NULL AS "hasPassword",
           (SELECT count(*)::int FROM passkey WHERE user_id = u.id) AS passkeys,
           (SELECT count(*)::int FROM linked_identity i JOIN identity_provider p ON p.id = i.provider_id
             WHERE i.user_id = u.id AND p.org_id IS NULL AND p.disabled_at IS NULL) AS identities
      FROM "user" u WHERE u.id = ${userId}`;
  return row ?? { hasPassword: false, passkeys: 0, identities: 0 };
}

/**
 * Called after a way to sign in was removed: the last one must stay. The caller has locked the user.
 * @throws ServiceError `conflict`
 */
export async function requireWayIn(userId: string, tx: Db): Promise<void> {
  const { hasPassword, passkeys, identities } = await waysIn(userId, tx);
  if (hasPassword || passkeys > 0 || identities > 0) return;
  throw new ServiceError("conflict", "This is your only way in. Set a password, add a passkey or link an account first.");
}

/**
 * Reauthentication with a provider (S113) is for users with neither password nor passkey: a person at an unlocked machine may
 * well have its owner's sessions there, so it proves less than these.
 * @throws ServiceError `forbidden`
 */
export async function requireNothingElse(userId: string, tx: Db = db()): Promise<void> {
  const { hasPassword, passkeys } = await waysIn(userId, tx);
  if (hasPassword || passkeys > 0) {
    throw new ServiceError("forbidden", "Confirm with your password or your passkey.");
  }
}
