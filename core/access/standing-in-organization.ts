import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";
import type { Person, TokenHolder } from "./actor.ts";

/** Where a member stands in an organization: the role, and what the organization asks of them that they have not met. */
export type Standing = { role: OrganizationRole; restrictions: readonly SecurityRestriction[] };

/** The standing of a user in an organization; undefined for everybody who is not a member. */
export async function standingInOrganization(userId: string, orgId: string, tx: Db = db()): Promise<Standing | undefined> {
  const [standing] = await tx.$queryRaw<Standing[]>`
    SELECT role, restrictions FROM member_standing WHERE user_id = ${userId} AND org_id = ${orgId}`;
  return standing;
}

/** The standing of a user in each of their organizations, by its id. */
export async function standingsOf(userId: string, tx: Db = db()): Promise<Map<string, Standing>> {
  const rows = await tx.$queryRaw<(Standing & { orgId: string })[]>`
    SELECT org_id AS "orgId", role, restrictions FROM member_standing WHERE user_id = ${userId}`;
  return new Map(rows.map(({ orgId, ...standing }) => [orgId, standing]));
}

/**
 * The standing of a person within a change, where it is read anew, with what was found of their token when that was looked up: that
 * the organization has cut it off is about the token, and not about its person.
 */
export function withTokenRestrictions(actor: Person | TokenHolder, orgId: string, standing: Standing): Standing {
  const known = actor.kind === "token" ? actor.standings?.get(orgId)?.restrictions : undefined;
  if (!known?.includes("token-revoked")) return standing;
  return { ...standing, restrictions: [...new Set([...standing.restrictions, "token-revoked" as const])] };
}

/** The standing without what an organization asks of members who come to it. That it cut a token off holds whoever is there. */
export function withoutPresence({ role, restrictions }: Standing): Standing {
  return { role, restrictions: restrictions.filter((each) => each === "token-revoked") };
}

/** The role of a user in an organization, whether or not they have met what it asks; undefined for everybody who is not a member. */
export async function roleInOrganization(userId: string, orgId: string, tx: Db = db()): Promise<OrganizationRole | undefined> {
  return (await standingInOrganization(userId, orgId, tx))?.role;
}
