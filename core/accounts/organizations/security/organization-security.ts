import type { OrganizationRole } from "@keyhook/sdk";
import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { conflict } from "#core/errors.ts";
import { organizationSlug } from "../../identity-providers/identity-provider.ts";
import { changeOrganization } from "../change-organization.ts";

export type OrganizationSecurity = {
  requiresSecondStep: boolean;
  requiresProvider: boolean;
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
  withoutSecondStep: number;
  /** The number of members who have not signed in with the issuer in the last 7 days. */
  withoutProvider: number;
  own: { lacksSecondStep: boolean; lacksProvider: boolean };
};

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
    readUnmetRequirements(orgId, actorId(actor) ?? ""),
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

/** Must have the same conditions as the view `member_standing`. With `role`, counts only members with that role. */
async function countUnmet(
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

async function readUnmetRequirements(orgId: string, userId: string, tx: Db = db()): Promise<OrganizationSecurity["own"]> {
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

type OrganizationSecurityChanges = { requiresSecondStep?: boolean; requiresProvider?: boolean };

/** Refuses a requirement that would lock out the actor or all administrators. */
export async function updateOrganizationSecurity(
  actor: Actor,
  orgId: string,
  changes: OrganizationSecurityChanges,
  from: RequestOrigin,
): Promise<void> {
  await changeOrganization(actor, { orgId, action: "organization.manage_security", from }, async (tx, record) => {
    const before = await tx.organization.findUniqueOrThrow({
      where: { id: orgId },
      select: { requiresSecondStep: true, requiredProviderId: true },
    });
    const requiresSecondStep = changes.requiresSecondStep ?? before.requiresSecondStep;
    const requiredProviderId =
      changes.requiresProvider === undefined
        ? before.requiredProviderId
        : changes.requiresProvider
          ? await liveProviderId(tx, orgId)
          : null;
    if (requiresSecondStep && !before.requiresSecondStep) await requireMet(tx, actor, orgId, "withoutSecondStep");
    if (requiredProviderId && !before.requiredProviderId) await requireMet(tx, actor, orgId, "withoutProvider");
    if (requiresSecondStep === before.requiresSecondStep && requiredProviderId === before.requiredProviderId) return;
    await tx.organization.update({ where: { id: orgId }, data: { requiresSecondStep, requiredProviderId } });
    await record({
      type: "organization.set_policy",
      data: { requiresSecondStep, requiresProvider: requiredProviderId !== null },
    });
  });
}

async function liveProviderId(tx: Db, orgId: string): Promise<string> {
  const [provider] = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM identity_provider WHERE slug = ${organizationSlug(orgId)} AND disabled_at IS NULL FOR KEY SHARE`;
  if (!provider) throw conflict("Set up the organization's issuer first.", "requiresProvider");
  return provider.id;
}

const sentences = {
  withoutSecondStep: {
    own: "lacksSecondStep",
    field: "requiresSecondStep",
    oneself: "Set up a second step for your own account first: this requirement would lock you out.",
    others: "No administrator has a second step yet: this requirement would lock all of them out.",
  },
  withoutProvider: {
    own: "lacksProvider",
    field: "requiresProvider",
    oneself: "Sign in with the issuer yourself first: this requirement would lock you out.",
    others: "No administrator has signed in with the issuer in the last 7 days: this requirement would lock all of them out.",
  },
} as const;

async function requireMet(tx: Db, actor: Actor, orgId: string, requirement: keyof typeof sentences): Promise<void> {
  const { own, field, oneself, others } = sentences[requirement];
  const lacks = await readUnmetRequirements(orgId, actorId(actor) ?? "", tx);
  if (lacks[own]) throw conflict(oneself, field);
  const admins = await countUnmet(orgId, { tx, role: "admin" });
  if (admins[requirement] === admins.members) throw conflict(others, field);
}
