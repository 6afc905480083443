import { type Actor, actorId } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { requireProviderManager } from "./require-provider-manager.ts";

/**
 * Deletes a provider with its linked identities. Users with no other way to sign in choose a password by mail.
 * @returns how many identities were linked to it
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`; `conflict` while the organization requires it
 */
export async function removeIdentityProvider(actor: Actor, slug: string, from: RequestOrigin): Promise<{ unlinked: number }> {
  return db().$transaction(async (tx) => {
    const { id, name, orgId } = await requireProviderManager(actor, slug, tx);
    // Prevents new links to it, and the organization from starting to require it meanwhile.
    await tx.$queryRaw`SELECT 1 FROM identity_provider WHERE id = ${id} FOR UPDATE`;
    if (orgId !== null && (await tx.organization.count({ where: { id: orgId, requiredProviderId: id } })) > 0) {
      throw new ServiceError("conflict", "The organization requires this issuer. Take the requirement back first.");
    }
    const unlinked = await tx.linkedIdentity.count({ where: { providerId: id } });
    const { count } = await tx.identityProvider.deleteMany({ where: { id } });
    if (count === 0) return { unlinked: 0 };
    await recordAuditEvent(tx, {
      type: "identity_provider.delete",
      actorId: actorId(actor),
      orgId,
      data: { name, slug, unlinked },
      from,
    });
    return { unlinked };
  });
}
