import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { pool } from "../db.ts";
import { notFound } from "../errors.ts";
import { type Relay, type RelayRow, relayColumns, toRelay } from "./relay.ts";

/** Somebody's relays by their names, those that have expired among them: their names lead to what was left there. */
export async function listRelays(actor: Actor, userId: string): Promise<Relay[]> {
  await requirePermission(actor, "relay.read", { userId }, { what: "Account" });
  const { rows } = await pool().query<RelayRow>({
    name: "list-relays",
    text: `SELECT ${relayColumns} FROM relay r WHERE r.user_id = $1 AND r.closed_at IS NULL ORDER BY r.name`,
    values: [userId],
  });
  return rows.map(toRelay);
}

/** @throws ServiceError `not_found` */
export async function findRelay(actor: Actor, userId: string, name: string): Promise<Relay> {
  await requirePermission(actor, "relay.read", { userId }, { what: "Relay" });
  const { rows } = await pool().query<RelayRow>({
    name: "find-relay",
    text: `SELECT ${relayColumns} FROM relay r WHERE r.user_id = $1 AND r.name = $2 AND r.closed_at IS NULL`,
    values: [userId, name.replaceAll("\0", "")],
  });
  const [row] = rows;
  if (!row) throw notFound("Relay");
  return toRelay(row);
}
