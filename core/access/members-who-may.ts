import { isRoleAtLeast, type OrganizationRole, organizationRoles } from "@keyhook/sdk";
import { Prisma } from "../generated/prisma/client.ts";
import { type Rule, rules } from "./rules.ts";

/**
 * The members whose standing lets them do something to what their organization owns, as a condition on `member_standing m`: it says of
 * all of them what `may` says of one person, and a test holds the two against each other.
 * @param makerId whoever made it, or SQL of them, for whom a lesser role may do.
 * @param options.isPresent false for what acts later: the organization asks nothing of members who are not there
 */
export function membersWhoMay(
  action: "repo.read" | "repo.write" | "repo.manage" | "webhook.manage" | "job.run" | "oauth_app.read",
  makerId: string | Prisma.Sql | null,
  { isPresent = true } = {},
): Prisma.Sql {
  const { role, maker, beforeRestrictions }: Rule = rules[action];
  const hasMet = beforeRestrictions || !isPresent ? Prisma.sql`TRUE` : Prisma.sql`cardinality(m.restrictions) = 0`;
  const asMaker = makerId === null ? Prisma.empty : Prisma.sql`OR (m.user_id = ${makerId} AND m.role = ANY (${from(maker)}))`;
  return Prisma.sql`(${hasMet} AND (m.role = ANY (${from(role)}) ${asMaker}))`;
}

/** The roles from one upwards, as text: a condition without parameters can stand in any statement. */
const from = (least: OrganizationRole | undefined): Prisma.Sql => {
  const roles = organizationRoles.filter((role) => least !== undefined && isRoleAtLeast(role, least));
  return Prisma.raw(`ARRAY[${roles.map((role) => `'${role}'`).join(", ")}]::text[]`);
};
