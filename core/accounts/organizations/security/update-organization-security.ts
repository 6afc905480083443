import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { recordAuditEvent } from "../../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../../audit/request-origin.ts";
import { type Db, db } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { organizationSlug } from "../../identity-providers/identity-provider.ts";
import { lockOrganization } from "../lock-organization.ts";
import { countUnmet, lacksOf } from "./read-organization-security.ts";

/** Absent values stay unchanged. */
export type OrganizationSecurityChanges = { requiresSecondStep?: boolean; requiresProvider?: boolean };

/**
 * Changes an organization's sign-in rules for its members, from the next request on: members who do not meet them lose access
 * to what the organization owns, and regain it as soon as they do. The administrator who enables a rule, and at least one
 * administrator, must meet it, so that nobody locks out themselves or everybody.
 * @throws ServiceError `forbidden`, `reauthentication_required`, `conflict` for a caller who does not meet it or for a missing
 * issuer
 */
export async function updateOrganizationSecurity(
  actor: Actor,
  orgId: string,
  changes: OrganizationSecurityChanges,
  from: RequestOrigin,
): Promise<void> {
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.manage_security", { orgId }, { what: "Organization", tx });
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
    await recordAuditEvent(tx, {
      type: "organization.set_policy",
      actorId: actorId(actor),
      orgId,
      data: { requiresSecondStep, requiresProvider: requiredProviderId !== null },
      from,
    });
  });
}

/** Locked against its removal. */
async function liveProviderId(tx: Db, orgId: string): Promise<string> {
  const [provider] = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM identity_provider WHERE slug = ${organizationSlug(orgId)} AND disabled_at IS NULL FOR KEY SHARE`;
  if (!provider) throw new ServiceError("conflict", "Set up the organization's issuer first.", { field: "requiresProvider" });
  return provider.id;
}

const sentences = {
  withoutSecondStep: {
    own: "lacksSecondStep",
    field: "requiresSecondStep",
    oneself: "Set up a second step for your own account first: this rule would lock you out.",
    others: "No administrator has a second step yet: this rule would lock all of them out.",
  },
  withoutProvider: {
    own: "lacksProvider",
    field: "requiresProvider",
    oneself: "Sign in with the issuer yourself first: this rule would lock you out.",
    others: "No administrator has signed in with the issuer yet: this rule would lock all of them out.",
  },
} as const;

async function requireMet(tx: Db, actor: Actor, orgId: string, rule: keyof typeof sentences): Promise<void> {
  const { own, field, oneself, others } = sentences[rule];
  const lacks = await lacksOf(orgId, actorId(actor) ?? "", tx);
  if (lacks[own]) throw new ServiceError("conflict", oneself, { field });
  const admins = await countUnmet(orgId, { tx, role: "admin" });
  if (admins[rule] === admins.members) throw new ServiceError("conflict", others, { field });
}
