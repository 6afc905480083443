import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";
import type { Person, TokenHolder } from "./actor.ts";

export type Standing = { role: OrganizationRole; restrictions: readonly SecurityRestriction[] };

export async function standingInOrganization(userId: string, orgId: string, tx: Db = db()): Promise<Standing | undefined> {
  const [standing] = await tx.$queryRaw<Standing[]>`
    SELECT role, restrictions FROM member_standing WHERE user_id = ${userId} AND org_id = ${orgId}`;
  return standing;
}

export async function standingsOf(userId: string, tx: Db = db()): Promise<Map<string, Standing>> {
  const rows = await tx.$queryRaw<(Standing & { orgId: string })[]>`
    SELECT org_id AS "orgId", role, restrictions FROM member_standing WHERE user_id = ${userId}`;
  return new Map(rows.map(({ orgId, ...standing }) => [orgId, standing]));
}

/** Adds the token's block to a standing that was read again. `member_standing` does not know which token acts. */
export function withTokenRestrictions(actor: Person | TokenHolder, orgId: string, standing: Standing): Standing {
  const known = actor.kind === "token" ? actor.standings?.get(orgId)?.restrictions : undefined;
  if (!known?.includes("token-revoked")) return standing;
  return { ...standing, restrictions: [...new Set([...standing.restrictions, "token-revoked" as const])] };
}

/** Leaves only a token's block. Sign-in requirements apply only to members who are present. */
export function withoutPresence({ role, restrictions }: Standing): Standing {
  return { role, restrictions: restrictions.filter((each) => each === "token-revoked") };
}

export async function roleInOrganization(userId: string, orgId: string, tx: Db = db()): Promise<OrganizationRole | undefined> {
  return (await standingInOrganization(userId, orgId, tx))?.role;
}
