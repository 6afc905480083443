import type { SecurityRestriction } from "@keyhook/sdk";
import { db, pool } from "../../db.ts";

export type ListedPasskey = {
  id: string;
  name: string;
  /** Whether its provider keeps a copy, so that it survives the loss of a device. */
  isBackedUp: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
};

export type SecondStep = {
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

/** One organization's rules for how its members sign in. */
export type OrganizationDemand = {
  orgId: string;
  name: string;
  fullName: string;
  asksForSecondStep: boolean;
  asksForProvider: boolean;
  /** The rules that the user does not meet yet: until then the organization is closed to them. */
  unmet: SecurityRestriction[];
};

const DEMANDS_MAX_ROWS = 100;

/** The organizations of a user that have sign-in rules, closed ones first. */
export async function listOrganizationDemands(userId: string): Promise<OrganizationDemand[]> {
  const { rows } = await pool().query<OrganizationDemand>({
    name: "list-organization-demands",
    text: `SELECT o.id AS "orgId", o.name, o.full_name AS "fullName", o.requires_second_step AS "asksForSecondStep",
                  o.required_provider_id IS NOT NULL AS "asksForProvider", s.restrictions AS unmet
             FROM member_standing s JOIN organization o ON o.id = s.org_id
            WHERE s.user_id = $1 AND (o.requires_second_step OR o.required_provider_id IS NOT NULL)
            ORDER BY cardinality(s.restrictions) DESC, o.name LIMIT ${DEMANDS_MAX_ROWS}`,
    values: [userId],
  });
  return rows;
}
