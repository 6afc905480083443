import type { SecurityRestriction } from "@keyhook/sdk";
import { type Db, db, pool } from "#core/db.ts";
import { conflict } from "#core/errors.ts";

export type ListedPasskey = {
  id: string;
  name: string;
  isBackedUp: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
};

type SecondStep = {
  hasPassword: boolean;
  passkeys: ListedPasskey[];
  authenticatorSince: Date | null;
  recoveryCodesLeft: number;
};

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

export type SignInRequirement = {
  orgId: string;
  name: string;
  fullName: string;
  requiresSecondStep: boolean;
  requiresProvider: boolean;
  unmet: SecurityRestriction[];
};

const REQUIREMENTS_MAX_ROWS = 100;

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

/** A recovery code is not a second step. Must have the same condition as the view `member_standing`. */
export async function hasSecondStep(userId: string, tx: Db = db()): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ has: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM passkey WHERE user_id = ${userId})
        OR EXISTS (SELECT 1 FROM totp WHERE user_id = ${userId} AND confirmed_at IS NOT NULL) AS has`;
  return row?.has ?? false;
}

export type RequiringOrganization = { id: string; name: string; fullName: string };

export async function organizationsRequiringSecondStep(userId: string, tx: Db = db()): Promise<RequiringOrganization[]> {
  return tx.organization.findMany({
    where: { requiresSecondStep: true, memberships: { some: { userId } } },
    orderBy: { name: "asc" },
    select: { id: true, name: true, fullName: true },
  });
}

/** Another organization may have introduced the requirement since the user opened the page. */
export function requireLossConfirmed(requiring: readonly RequiringOrganization[], confirmed: readonly string[]): void {
  const unconfirmed = requiring.filter(({ id }) => !confirmed.includes(id)).map(({ name }) => name);
  if (unconfirmed.length === 0) return;
  throw conflict(
    `Without a second step you lose access to ${new Intl.ListFormat("en").format(unconfirmed)}, which ${unconfirmed.length === 1 ? "requires" : "require"} one. Reload this page and confirm again.`,
  );
}
