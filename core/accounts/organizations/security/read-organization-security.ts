import type { OrganizationRole } from "@keyhook/sdk";
import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { type Db, db } from "../../../db.ts";
import { organizationSlug } from "../../identity-providers/identity-provider.ts";

export type OrganizationSecurity = {
  requiresSecondStep: boolean;
  requiresProvider: boolean;
  /** The organization's own issuer, if it is set up. */
  provider: {
    id: string;
    slug: string;
    name: string;
    issuer: string;
    clientId: string;
    hasSecret: boolean;
    isDisabled: boolean;
    linked: number;
  } | null;
  members: number;
  /** Members without a second step, whether or not it is required. */
  withoutSecondStep: number;
  /** Members who have not signed in with the issuer in the last 7 days, whether or not it is required. */
  withoutProvider: number;
  /** What the caller, as a member, lacks: until they have it they cannot require it. */
  own: { lacksSecondStep: boolean; lacksProvider: boolean };
};

/**
 * An organization's sign-in rules for its members, and how many do not meet them.
 * @throws ServiceError `forbidden`
 */
export async function readOrganizationSecurity(actor: Actor, orgId: string): Promise<OrganizationSecurity> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const [organization, row, counts, own] = await Promise.all([
    db().organization.findUniqueOrThrow({
      where: { id: orgId },
      select: { requiresSecondStep: true, requiredProviderId: true },
    }),
    db().identityProvider.findUnique({
      where: { slug: organizationSlug(orgId) },
      include: { _count: { select: { identities: true } } },
    }),
    countUnmet(orgId),
    lacksOf(orgId, actorId(actor) ?? ""),
  ]);
  return {
    requiresSecondStep: organization.requiresSecondStep,
    requiresProvider: row !== null && organization.requiredProviderId === row.id,
    provider: row && {
      id: row.id,
      slug: row.slug,
      name: row.name,
      issuer: row.issuer,
      clientId: row.clientId,
      hasSecret: row.sealedClientSecret !== null,
      isDisabled: row.disabledAt !== null,
      linked: row._count.identities,
    },
    ...counts,
    own,
  };
}

type Counts = { members: number; withoutSecondStep: number; withoutProvider: number };

/**
 * The same conditions as in the view `member_standing`, but for both rules whether or not they are in force. Each set is read
 * once, however many members there are.
 * @param options `role` counts only members with that role
 */
export async function countUnmet(
  orgId: string,
  { tx = db(), role = null }: { tx?: Db; role?: OrganizationRole | null } = {},
): Promise<Counts> {
  const [counts] = await tx.$queryRaw<Counts[]>`
    SELECT count(*)::int AS members,
           (count(*) - count(s.user_id))::int AS "withoutSecondStep",
           (count(*) - count(i.user_id))::int AS "withoutProvider"
      FROM membership m
      LEFT JOIN (SELECT user_id FROM passkey UNION SELECT user_id FROM totp WHERE confirmed_at IS NOT NULL) s
             ON s.user_id = m.user_id
      LEFT JOIN (SELECT DISTINCT user_id FROM linked_identity
                  WHERE provider_id = (SELECT id FROM identity_provider WHERE slug = ${organizationSlug(orgId)})
                    AND last_used_at > now() - interval '7 days') i
             ON i.user_id = m.user_id
     WHERE m.org_id = ${orgId} AND (${role}::text IS NULL OR m.role = ${role})`;
  return counts ?? { members: 0, withoutSecondStep: 0, withoutProvider: 0 };
}

/** What one member lacks; nothing for non-members. */
export async function lacksOf(orgId: string, userId: string, tx: Db = db()): Promise<OrganizationSecurity["own"]> {
  const [lacks] = await tx.$queryRaw<OrganizationSecurity["own"][]>`
    SELECT NOT EXISTS (SELECT 1 FROM passkey WHERE user_id = m.user_id)
           AND NOT EXISTS (SELECT 1 FROM totp WHERE user_id = m.user_id AND confirmed_at IS NOT NULL) AS "lacksSecondStep",
           NOT EXISTS (SELECT 1 FROM linked_identity
                        WHERE user_id = m.user_id AND last_used_at > now() - interval '7 days'
                          AND provider_id = (SELECT id FROM identity_provider WHERE slug = ${organizationSlug(orgId)}))
           AS "lacksProvider"
      FROM membership m WHERE m.org_id = ${orgId} AND m.user_id = ${userId}`;
  return lacks ?? { lacksSecondStep: false, lacksProvider: false };
}
