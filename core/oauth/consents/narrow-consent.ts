import { isScope } from "@keyhook/sdk";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { inTransaction } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { isId } from "#core/ids.ts";
import { requiredScopes } from "../scopes.ts";
import { lockConsents, recordOrganizationConsents, revokeExcess } from "./store-answer.ts";

/** Scopes that every sign-in requires always stay. */
type Kept = { scopes: string[]; orgIds: string[]; isAllOrgs: boolean };

/** Tokens beyond the remaining consent end at once (S30). */
export async function narrowConsent(session: SiteSession, consentId: string, kept: Kept, from: RequestOrigin): Promise<void> {
  if (!isId(consentId)) throw notFound("Connected app");
  const where = { id: consentId, userId: session.user.id, revokedAt: null };
  await inTransaction(async (tx) => {
    const owner = await tx.oAuthConsent.findFirst({ where, select: { userId: true, clientId: true } });
    if (!owner) throw notFound("Connected app");
    await lockConsents(tx, owner);
    const consent = await tx.oAuthConsent.findFirst({ where });
    if (!consent) throw notFound("Connected app");
    const memberships = await tx.membership.findMany({ where: { userId: owner.userId }, select: { orgId: true } });
    // The page does not show offline_access and organizations that the user has left.
    const shown = new Set(memberships.map(({ orgId }) => orgId));
    const isScopeKept = (scope: string) =>
      kept.scopes.includes(scope) || !isScope(scope) || requiredScopes.some((required) => required === scope);
    const isAllOrgs = consent.isAllOrgs && kept.isAllOrgs;
    const before = consent.isAllOrgs ? [...new Set([...consent.orgIds, ...shown])] : consent.orgIds;
    const orgIds = isAllOrgs ? consent.orgIds : before.filter((id) => !shown.has(id) || kept.orgIds.includes(id));
    const removedScopes = consent.scopes.filter((scope) => !isScopeKept(scope));
    const removedOrgIds = before.filter((id) => !orgIds.includes(id) && !isAllOrgs);
    if (removedScopes.length === 0 && removedOrgIds.length === 0 && isAllOrgs === consent.isAllOrgs) return;
    const data = {
      scopes: consent.scopes.filter(isScopeKept),
      declinedScopes: [...consent.declinedScopes, ...removedScopes],
      orgIds,
      declinedOrgIds: [...new Set([...consent.declinedOrgIds, ...removedOrgIds])],
      isAllOrgs,
    };
    await tx.oAuthConsent.update({ where: { id: consentId }, data: { ...data, updatedAt: new Date() } });
    await revokeExcess(tx, owner);
    await recordAuditEvent(tx, { type: "oauth_consent.narrow", actorId: owner.userId, clientId: owner.clientId, data, from });
    await recordOrganizationConsents(tx, owner, { before: consent, after: data }, from);
  });
}
