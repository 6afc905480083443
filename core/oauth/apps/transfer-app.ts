import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { changeApp, type LockedApp } from "./change-app.ts";
import { OWNER_MAX_APPS } from "./create-app.ts";

/**
 * Transfers an app to another owner: from a user to an organization, back, or between organizations. The actor needs the right to manage
 * the app where it is and to create one where it goes, so one person agrees for both sides; nobody gets an app unasked.
 *
 * Consents stay, and the app's tokens remain valid. The operator's mark is removed: it was about the previous owner.
 * @param to the new owner's handle
 * @throws ServiceError `reauthentication_required`, `not_found`, `invalid_request`, `conflict`, and `forbidden` if the actor may not create
 * apps
 */
export async function transferApp(
  actor: Actor,
  appId: string,
  to: { owner: string },
  from: RequestOrigin,
): Promise<{ orgName: string | null }> {
  const owner = await findOwner(to.owner);
  return changeApp(actor, "oauth_app.manage_security", appId, async (tx, app) => {
    const ownership = {
      ownerUserId: owner?.kind === "user" ? owner.id : null,
      ownerOrgId: owner?.kind === "organization" ? owner.id : null,
    };
    // Whether this name exists is public; that the actor may not act for it gets the same response in every case.
    if (!owner) throw new ServiceError("not_found", "Nobody here has this name.", { field: "owner" });
    await requirePermission(actor, "oauth_app.create", ownership, { what: "Owner", tx });
    if (app.ownerUserId === ownership.ownerUserId && app.ownerOrgId === ownership.ownerOrgId) {
      throw new ServiceError("invalid_request", "The app is there already. Choose another owner.", { field: "owner" });
    }
    assertFree(app, ownership.ownerOrgId);
    await holdOwner(tx, ownership);
    if ((await tx.oAuthApp.count({ where: ownership })) >= OWNER_MAX_APPS) {
      throw new ServiceError("conflict", `${owner.handle} has ${OWNER_MAX_APPS} apps already. Delete one there first.`, {
        field: "owner",
      });
    }
    await tx.oAuthApp.update({ where: { id: app.id }, data: { ...ownership, verifiedAt: null } });
    await record(tx, { app, to: owner.handle, newOrgId: ownership.ownerOrgId, actorId: actorId(actor), from });
    return { orgName: owner.kind === "organization" ? owner.handle : null };
  });
}

/** An app that acts for an organization by token exchange must not change its owner in passing. */
function assertFree({ boundOrgId }: LockedApp, newOrgId: string | null): void {
  if (boundOrgId === null || boundOrgId === newOrgId) return;
  throw new ServiceError("conflict", "The app is bound to an organization. Unbind it first.");
}

/** No foreign key ties an app to its owner, so this waits for an owner that is being deleted, and then does not find it. */
async function holdOwner(
  tx: Db,
  { ownerUserId, ownerOrgId }: { ownerUserId: string | null; ownerOrgId: string | null },
): Promise<void> {
  const held = ownerOrgId
    ? await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${ownerOrgId} FOR KEY SHARE`
    : await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${ownerUserId} AND disabled_at IS NULL FOR KEY SHARE`;
  if (held.length === 0) throw notFound("Owner");
}

type Transferred = { app: LockedApp; to: string; newOrgId: string | null; actorId: string | null; from: RequestOrigin };

/** Records it for the administrators of both organizations. */
async function record(tx: Db, { app, to, newOrgId, actorId, from }: Transferred): Promise<void> {
  const organizations = [app.ownerOrgId, newOrgId].filter((id) => id !== null);
  for (const orgId of organizations.length > 0 ? organizations : [null]) {
    await recordAuditEvent(tx, {
      type: "oauth_app.transfer",
      actorId,
      orgId,
      clientId: app.clientId,
      data: { name: app.name, owner: to, wasVerified: app.verifiedAt !== null },
      from,
    });
  }
}
