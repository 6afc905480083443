import { isRoleAtLeast, type OrganizationRole, organizationRoles } from "@keyhook/sdk";
import { Prisma } from "../generated/prisma/client.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";

/**
 * The members whose standing lets them do something to what their organization owns, as a condition on `member_standing m`. It answers for
 * all members what `may` answers for one, and a test compares the two.
 * @param makerId the creator, or SQL for the creator, for whom a lower role is enough.
 * @param options.isPresent false for what acts later: the organization's requirements do not apply to absent members
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

/** The roles from one upwards, as text, so that the condition has no parameters and fits into any statement. */
const from = (least: OrganizationRole | undefined): Prisma.Sql => {
  const roles = organizationRoles.filter((role) => least !== undefined && isRoleAtLeast(role, least));
  return Prisma.raw(`ARRAY[${roles.map((role) => `'${role}'`).join(", ")}]::text[]`);
};
