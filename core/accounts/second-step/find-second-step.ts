import type { SecurityRestriction } from "@keyhook/sdk";
import { type Db, db, pool } from "#core/db.ts";
import { conflict } from "#core/errors.ts";

export type ListedPasskey = {
  id: string;
  name: string;
  /** Whether its provider keeps a copy, so that it survives the loss of a device. */
  isBackedUp: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
};

type SecondStep = {
  hasPassword: boolean;
  passkeys: ListedPasskey[];
  /** When the authenticator app was set up; null without one. */
  authenticatorSince: Date | null;
  recoveryCodesLeft: number;
};

/** How a user signs in, for their settings. All of it is bounded: a user has at most twenty passkeys and ten codes. */
export async function findSecondStep(userId: string): Promise<SecondStep> {
  const user = await db().user.findUniqueOrThrow({
    where: { id: userId },
    select: {
      passwordHash: true,
      passkeys: {
        orderBy: [{ createdAt: "asc" }, { id: "asc" }],
        select: { id: true, name: true, isBackedUp: true, createdAt: true, lastUsedAt: true },
      },
      totp: { select: { confirmedAt: true } },
      _count: { select: { recoveryCodes: { where: { usedAt: null } } } },
    },
  });
  return {
    hasPassword: user.passwordHash !== null,
    passkeys: user.passkeys,
    authenticatorSince: user.totp?.confirmedAt ?? null,
    recoveryCodesLeft: user._count.recoveryCodes,
  };
}

/** One organization's requirements for how its members sign in. */
export type SignInRequirement = {
  orgId: string;
  name: string;
  fullName: string;
  requiresSecondStep: boolean;
  requiresProvider: boolean;
  /** The requirements that the user does not meet yet: until then the organization is closed to them. */
  unmet: SecurityRestriction[];
};

const REQUIREMENTS_MAX_ROWS = 100;

/** The organizations of a user that have sign-in requirements, closed ones first. */
export async function listSignInRequirements(userId: string): Promise<SignInRequirement[]> {
  const { rows } = await pool().query<SignInRequirement>({
    name: "list-sign-in-requirements",
    text: `SELECT o.id AS "orgId", o.name, o.full_name AS "fullName", o.requires_second_step AS "requiresSecondStep",
                  o.required_provider_id IS NOT NULL AS "requiresProvider", s.restrictions AS unmet
             FROM member_standing s JOIN organization o ON o.id = s.org_id
            WHERE s.user_id = $1 AND (o.requires_second_step OR o.required_provider_id IS NOT NULL)
            ORDER BY cardinality(s.restrictions) DESC, o.name LIMIT ${REQUIREMENTS_MAX_ROWS}`,
    values: [userId],
  });
  return rows;
}

/**
 * Whether a user signs in in two steps: they have a passkey, or an authenticator app whose first code was confirmed. Recovery
 * codes replace a step but are not one. The view `member_standing` has the same condition.
 */
export async function hasSecondStep(userId: string, tx: Db = db()): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ has: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM passkey WHERE user_id = ${userId})
        OR EXISTS (SELECT 1 FROM totp WHERE user_id = ${userId} AND confirmed_at IS NOT NULL) AS has`;
  return row?.has ?? false;
}

export type RequiringOrganization = { id: string; name: string; fullName: string };

/** The organizations of a user that require a second step: without one they are closed to the user. */
export async function organizationsRequiringSecondStep(userId: string, tx: Db = db()): Promise<RequiringOrganization[]> {
  return tx.organization.findMany({
    where: { requiresSecondStep: true, memberships: { some: { userId } } },
    orderBy: { name: "asc" },
    select: { id: true, name: true, fullName: true },
  });
}

/**
 * Refuses to remove the last second step unless the user has confirmed which organizations the removal closes to them: another
 * organization may have introduced the requirement since they opened the page.
 * @throws ServiceError `conflict`
 */
export function requireLossConfirmed(requiring: readonly RequiringOrganization[], confirmed: readonly string[]): void {
  const unconfirmed = requiring.filter(({ id }) => !confirmed.includes(id)).map(({ name }) => name);
  if (unconfirmed.length === 0) return;
  throw conflict(
    `Without a second step you lose access to ${new Intl.ListFormat("en").format(unconfirmed)}, which ${unconfirmed.length === 1 ? "requires" : "require"} one. Reload this page and confirm again.`,
  );
}
