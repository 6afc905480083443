import { type Actor, actorId } from "../../access/actor.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { isOwnRelay } from "../../relay/is-own-relay.ts";
import { relayTargetOf } from "../../relay/relay-target.ts";
import type { WebhookOwner } from "./webhook.ts";

/**
 * A webhook may lead to its owner's relay; an organization's to a relay of the person who configures it. This prevents events
 * from going to a stranger whose URL was pasted.
 * @throws ServiceError `invalid_request` with the field `url`
 */
export async function requireOwnRelay(tx: Db, actor: Actor, owner: WebhookOwner, url: string): Promise<void> {
  const relay = relayTargetOf(url);
  if (!relay) return;
  const userId = owner.kind === "user" ? owner.id : actorId(actor);
  if (userId !== null && (await isOwnRelay(tx, relay.token, userId))) return;
  const sentence =
    "This is not the address of a relay of yours, or it has expired: open the relay, and use the address that it has now.";
  throw new ServiceError("invalid_request", sentence, { field: "url" });
}
