import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { conflict, invalidRequest, notFound, ServiceError } from "../../errors.ts";
import { revokeClientConsents } from "../consents/revoke-consent.ts";
import { auditOrgOf, changeApp, type LockedApp } from "./change-app.ts";
import { lockAppLimit, lockAppOwner, OWNER_MAX_APPS } from "./create-app.ts";

/**
 * The actor needs rights at both owners. The app loses the verified mark, which the operator gave to the previous owner.
 * @param to the new owner's handle
 */
export async function transferApp(
  actor: Actor,
  appId: string,
  to: { owner: string },
  from: RequestOrigin,
): Promise<{ orgName: string | null }> {
  const owner = await findOwner(to.owner);
  return changeApp(actor, { appId, action: "oauth_app.manage_security", from }, async (tx, app, record) => {
    const ownership = {
      ownerUserId: owner?.kind === "user" ? owner.id : null,
      ownerOrgId: owner?.kind === "organization" ? owner.id : null,
    };
    if (!owner) throw new ServiceError("not_found", "No user or organization has this name.", { field: "owner" });
    await requirePermission(actor, "oauth_app.create", ownership, { what: "Owner", tx });
    if (app.ownerUserId === ownership.ownerUserId && app.ownerOrgId === ownership.ownerOrgId) {
      throw invalidRequest("The app already belongs to this owner. Choose another owner.", "owner");
    }
    assertFree(app, ownership.ownerOrgId);
    if (!(await lockAppOwner(tx, ownership))) throw notFound("Owner");
    if ((await lockAppLimit(tx, ownership)).isReached) {
      throw conflict(`${owner.handle} already has ${OWNER_MAX_APPS} apps. Delete one there first.`, "owner");
    }
    await tx.oAuthApp.update({ where: { id: app.id }, data: { ...ownership, verifiedAt: null, updatedAt: new Date() } });
    const organizations = [app.ownerOrgId, ownership.ownerOrgId].filter((id) => id !== null);
    const data = { name: app.name, owner: owner.handle, wasVerified: app.verifiedAt !== null };
    for (const orgId of organizations.length > 0 ? organizations : [null]) {
      await record({ type: "oauth_app.transfer", orgId, data });
    }
    return { orgName: owner.kind === "organization" ? owner.handle : null };
  });
}

function assertFree({ boundOrgId }: LockedApp, newOrgId: string | null): void {
  if (boundOrgId === null || boundOrgId === newOrgId) return;
  throw conflict("The app is bound to an organization. Unbind it first.");
}

/** Revokes consents and Grants in the same transaction, so every token ends at once (S49). */
export async function deleteApp(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  const by = { actorId: actorId(actor), from };
  await changeApp(actor, { appId, action: "oauth_app.manage_security", from }, (tx, app) => deleteLockedApp(tx, app, by));
}

/** Call this in the transaction that locked the app's row. */
export async function deleteLockedApp(
  tx: Db,
  app: LockedApp,
  { actorId, from }: { actorId: string | null; from: RequestOrigin },
): Promise<void> {
  const revokedConsents = await revokeClientConsents(tx, app.clientId);
  await tx.oAuthAppUsage.deleteMany({ where: { clientId: app.clientId } });
  await tx.oAuthAppActiveUser.deleteMany({ where: { clientId: app.clientId } });
  await tx.oAuthApp.delete({ where: { id: app.id } });
  await recordAuditEvent(tx, {
    type: "oauth_app.delete",
    actorId,
    orgId: auditOrgOf(app),
    clientId: app.clientId,
    data: { name: app.name, revokedConsents },
    from,
  });
}
