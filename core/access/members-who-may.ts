import { isRoleAtLeast, type OrganizationRole, organizationRoles } from "@keyhook/sdk";
import { Prisma } from "../generated/prisma/client.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";

/**
 * Must decide as `may` does, which a test checks. The result is a condition on `member_standing m`.
 * @param creatorId the creator, for whom a lower role is enough
 * @param options.isPresent false for a stored resource that acts later, so that sign-in requirements do not apply
 */
export function membersWhoMay(
  action: "repo.read" | "repo.write" | "repo.manage" | "webhook.manage" | "job.run" | "oauth_app.read",
  creatorId: string | Prisma.Sql | null,
  { isPresent = true } = {},
): Prisma.Sql {
  const { role, creator, beforeRestrictions }: Rule = rules[action];
  const meetsRequirements = beforeRestrictions || !isPresent ? Prisma.sql`TRUE` : Prisma.sql`cardinality(m.restrictions) = 0`;
  const asCreator =
    creatorId === null ? Prisma.empty : Prisma.sql`OR (m.user_id = ${creatorId} AND m.role = ANY (${from(creator)}))`;
  return Prisma.sql`(${meetsRequirements} AND (m.role = ANY (${from(role)}) ${asCreator}))`;
}

const from = (least: OrganizationRole | undefined): Prisma.Sql => {
  const roles = organizationRoles.filter((role) => least !== undefined && isRoleAtLeast(role, least));
  return Prisma.raw(`ARRAY[${roles.map((role) => `'${role}'`).join(", ")}]::text[]`);
};
