import { type Actor, actorId } from "../../access/actor.ts";
import { removeOrganization } from "../../accounts/organizations/remove-organization.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { removeOwned } from "./remove-owned.ts";

/**
 * Deletes an organization with what it owns here: repositories, each with its event, collections and webhooks. Their data on disk goes
 * a little later, as with every repository that is deleted.
 * @throws ServiceError as `removeOrganization`: then nothing is deleted
 */
export async function deleteOrganization(actor: Actor, orgId: string, from: RequestOrigin): Promise<void> {
  await removeOrganization(actor, orgId, from, (tx) => removeOwned(tx, orgId, actorId(actor)));
}
