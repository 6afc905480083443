import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { requireProviderManager } from "./require-provider-manager.ts";

/**
 * Stops all use of a provider until it is enabled again; linked identities stay linked. One that is already disabled is
 * unchanged.
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`
 */
export async function disableIdentityProvider(actor: Actor, slug: string, from: RequestOrigin): Promise<void> {
  await setDisabled(actor, slug, new Date(), from);
}

/** @throws ServiceError `not_found`, `forbidden`, `reauthentication_required` */
export async function enableIdentityProvider(actor: Actor, slug: string, from: RequestOrigin): Promise<void> {
  await setDisabled(actor, slug, null, from);
}

async function setDisabled(actor: Actor, slug: string, disabledAt: Date | null, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    const { id, name, orgId } = await requireProviderManager(actor, slug, tx);
    const { count } = await tx.identityProvider.updateMany({
      where: { id, disabledAt: disabledAt ? null : { not: null } },
      data: { disabledAt },
    });
    if (count === 0) return;
    await recordAuditEvent(tx, {
      type: disabledAt ? "identity_provider.disable" : "identity_provider.enable",
      actorId: actorId(actor),
      orgId,
      data: { name, slug },
      from,
    });
  });
}
