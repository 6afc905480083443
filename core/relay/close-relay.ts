import { type Actor, actorId, clientIdOf } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { type Db, inTransaction } from "../db.ts";
import { notFound } from "../errors.ts";
import { giveUpRequests } from "./inbox/give-up-requests.ts";
import { LISTENER_MARK, RELAY_CHANNEL } from "./relay.ts";
import { isRelayOf } from "./relays-of-app.ts";

/**
 * Closes a relay: its URL stops working, its listener is disconnected, and waiting requests are given up.
 * @throws ServiceError `not_found`, `insufficient_scope`
 */
export async function closeRelay(actor: Actor, userId: string, name: string, from: RequestOrigin): Promise<void> {
  await inTransaction(async (tx) => {
    await requirePermission(actor, "relay.manage", { userId }, { what: "Relay", tx });
    const [closed] = await tx.$queryRaw<{ id: string }[]>`
      UPDATE relay r SET closed_at = now(), expires_at = least(expires_at, now()), listening_until = NULL
      WHERE user_id = ${userId} AND name = ${name.replaceAll("\0", "")} AND closed_at IS NULL AND ${isRelayOf(actor)} RETURNING id`;
    if (!closed) throw notFound("Relay");
    await sendAway(tx, closed.id);
    const by = { actorId: actorId(actor), clientId: clientIdOf(actor), subjectId: userId };
    await recordAuditEvent(tx, { type: "relay.close", ...by, data: { name }, from });
  });
}

/** Closes the relays, of any user, that were opened by tokens whose grants have ended. */
export async function closeDelegatedRelays(tx: Db, delegationIds: readonly string[]): Promise<void> {
  const closed = await tx.$queryRaw<{ id: string; userId: string; name: string; clientId: string | null }[]>`
    UPDATE relay SET closed_at = now(), expires_at = least(expires_at, now()), listening_until = NULL
    WHERE delegation_id = ANY (${[...delegationIds]}) AND closed_at IS NULL RETURNING id, user_id AS "userId", name,
      (SELECT d.client_id FROM delegation d WHERE d.id = delegation_id) AS "clientId"`;
  for (const { id, userId, name, clientId } of closed) {
    await sendAway(tx, id);
    const data = { name, reason: "the access of whatever opened it has ended" };
    await recordAuditEvent(tx, { type: "relay.close", subjectId: userId, clientId, data });
  }
}

async function sendAway(tx: Db, relayId: string): Promise<void> {
  await giveUpRequests(tx, relayId, "the relay was closed before its listener had answered");
  await tx.$executeRaw`SELECT pg_notify(${RELAY_CHANNEL}, ${relayId + LISTENER_MARK})`;
}
