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
  /** Members who have set up no second step, whether or not it is required. */
  withoutSecondStep: number;
  /** Members who have not signed in with the issuer in the last 7 days, whether or not it is required. */
  withoutProvider: number;
  /** What who asks, as a member, has not done: until they have they cannot require it. */
  own: { lacksSecondStep: boolean; lacksProvider: boolean };
};

/**
 * What an organization asks of its members' sign-in, and how many have yet to meet it.
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
    countUnmet(orgId, { userId: actorId(actor) ?? "" }),
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
    own: { lacksSecondStep: own.withoutSecondStep > 0, lacksProvider: own.withoutProvider > 0 },
  };
}

type Counts = { members: number; withoutSecondStep: number; withoutProvider: number };

/**
 * As the view `member_standing` asks, but for both whether or not they are required.
 * @param options `userId` counts this member alone, `role` those who have it
 */
export async function countUnmet(
  orgId: string,
  { tx = db(), userId = null, role = null }: { tx?: Db; userId?: string | null; role?: string | null } = {},
): Promise<Counts> {
  const [counts] = await tx.$queryRaw<Counts[]>`
    SELECT count(*)::int AS members,
           count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM passkey p WHERE p.user_id = m.user_id)
             AND NOT EXISTS (SELECT 1 FROM totp t WHERE t.user_id = m.user_id AND t.confirmed_at IS NOT NULL))::int
             AS "withoutSecondStep",
           count(*) FILTER (WHERE NOT EXISTS (
             SELECT 1 FROM linked_identity i JOIN identity_provider p ON p.id = i.provider_id
              WHERE i.user_id = m.user_id AND p.slug = ${organizationSlug(orgId)}
                AND i.last_used_at > now() - interval '7 days'))::int AS "withoutProvider"
      FROM membership m
     WHERE m.org_id = ${orgId} AND (${userId}::text IS NULL OR m.user_id = ${userId}) AND (${role}::text IS NULL OR m.role = ${role})`;
  return counts ?? { members: 0, withoutSecondStep: 0, withoutProvider: 0 };
}
