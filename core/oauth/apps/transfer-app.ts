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
 * Gives an app to another owner: from a person to an organization, back, or from one organization to another. It takes the right to
 * decide over the app where it is and to make one where it goes, so both sides agree in one person; nobody is given an app unasked.
 *
 * What people allowed the app stays, and its tokens work on. The operator's mark goes: it was about the app in the hands that it was in.
 * @param to the new owner's handle
 * @throws ServiceError `reauthentication_required`, `not_found`, `invalid_request`, `conflict`, and `forbidden` where the actor may not
 * make apps
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
    // Whether somebody of this name is there is public; that one may not act for them is said the same for all.
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

/** An app that acts for an organization by token exchange does not get a new master by the way. */
function assertFree({ boundOrgId }: LockedApp, newOrgId: string | null): void {
  if (boundOrgId === null || boundOrgId === newOrgId) return;
  throw new ServiceError("conflict", "The app is bound to an organization. Unbind it first.");
}

/** No foreign key says who owns an app, so an owner who is being deleted is waited for, and then not found. */
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

/** The administrators of either organization read of it. */
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
