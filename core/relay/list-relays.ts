import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { pool } from "../db.ts";
import { notFound } from "../errors.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { type Relay, type RelayRow, relayColumns, toRelay } from "./relay.ts";
import { isRelayOf } from "./relays-of-app.ts";

/**
 * A user's relays by name; an app sees those that it opened. Expired ones are included: requests left there can be found by
 * their names.
 */
export async function listRelays(actor: Actor, userId: string): Promise<Relay[]> {
  await requirePermission(actor, "relay.read", { userId }, { what: "Account" });
  return (await readRelays(Prisma.sql`r.user_id = ${userId} AND ${isRelayOf(actor)}`)).map(toRelay);
}

/** @throws ServiceError `not_found` */
export async function findRelay(actor: Actor, userId: string, name: string): Promise<Relay> {
  await requirePermission(actor, "relay.read", { userId }, { what: "Relay" });
  const [row] = await readRelays(
    Prisma.sql`r.user_id = ${userId} AND r.name = ${name.replaceAll("\0", "")} AND ${isRelayOf(actor)}`,
  );
  if (!row) throw notFound("Relay");
  return toRelay(row);
}

async function readRelays(where: Prisma.Sql): Promise<RelayRow[]> {
  const { text, values } = Prisma.sql`
    SELECT ${Prisma.raw(relayColumns)} FROM relay r WHERE r.closed_at IS NULL AND ${where} ORDER BY r.name`;
  return (await pool().query<RelayRow>(text, values as unknown[])).rows;
}
