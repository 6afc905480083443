import { isIP } from "node:net";
import type { Db } from "../db.ts";
import { ServiceError } from "../errors.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { type AuditEventType, auditEventTypes, typesBound } from "./event-types.ts";
import type { RequestOrigin } from "./request-origin.ts";

/**
 * How many entries a user may record per hour on the pages, and as many again with each app: far above normal use, and enough for a program
 * that starts jobs.
 */
export const ENTRIES_PER_HOUR = 1_000;
/** The limit for all tokens of one account together, since an account may have many. */
export const ENTRIES_WITH_TOKENS_PER_HOUR = 3 * ENTRIES_PER_HOUR;
/** The hourly limit for a kind that counts apart. */
export const APART_PER_HOUR = 200;
/** How many entries of an account's last hour are examined. Exchanges, which do not count, may be many more. */
const LOOKED_AT = 10 * ENTRIES_PER_HOUR;

const hourly = typesBound("hour");

/**
 * Refuses a change whose entry would exceed the hourly limit (decision 083): of the account's changes on the pages, or of its changes with
 * the same app or personal token, so that no app can use up its user's allowance.
 *
 * Entries are counted where they are stored, so changes that were rolled back do not count, and nothing is locked: concurrent changes can
 * each be the last one allowed. Entries of one transaction count as one: all of it was allowed when it began, or none. `created_at` is its
 * beginning, in milliseconds.
 * @throws ServiceError `rate_limited`
 */
export async function requireAllowance(db: Db, actorId: string, type: AuditEventType, from?: RequestOrigin): Promise<void> {
  const { bound } = auditEventTypes[type];
  if (bound !== "hour" && bound !== "apart") return;
  const token = from?.token;
  const holder = token ? (token.clientId ?? token.id) : null;
  const isSameHolder = Prisma.sql`coalesce(token ->> 'clientId', token ->> 'id') IS NOT DISTINCT FROM ${holder}`;
  const ofKind = Prisma.sql`CASE WHEN type = ${type} THEN ${isSameHolder} AND ${isOfNetwork(from?.ip)} END`;
  const withSame = Prisma.sql`type = ANY (${hourly}) AND ${isSameHolder}`;
  const withTokens = Prisma.sql`type = ANY (${hourly}) AND token ->> 'type' <> 'exchanged'`;
  const limits = bound === "apart" ? [nth(APART_PER_HOUR, ofKind)] : [nth(ENTRIES_PER_HOUR, withSame)];
  // An organization's program acts in members' names; it must not use up the allowance of their own tokens.
  if (bound === "hour" && token && token.type !== "exchanged") limits.push(nth(ENTRIES_WITH_TOKENS_PER_HOUR, withTokens));
  const [refused] = await db.$queryRaw<{ seconds: number }[]>`
    WITH latest AS MATERIALIZED (
      SELECT type, ip, token, created_at FROM audit_event
      WHERE actor_id = ${actorId} AND created_at > now() - interval '1 hour' AND created_at < date_trunc('milliseconds', now())
      ORDER BY created_at DESC LIMIT ${LOOKED_AT})
    SELECT greatest(1, ceil(extract(epoch FROM max(at) + interval '1 hour' - now())))::int AS seconds
    FROM (${Prisma.join(limits, " UNION ALL ")}) AS reached (at) HAVING max(at) IS NOT NULL`;
  if (!refused) return;
  const minutes = Math.ceil(refused.seconds / 60);
  const when = minutes === 1 ? "in a minute" : `in ${minutes} minutes`;
  const description = `Too many things were changed in the name of this account in an hour. Try again ${when}.`;
  throw new ServiceError("rate_limited", description, { retryAfterSeconds: refused.seconds });
}

/** When the `limit`-th most recent entry was recorded: once it is an hour old, there is room for another one. */
const nth = (limit: number, isCounted: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(SELECT created_at FROM latest WHERE ${isCounted} ORDER BY created_at DESC OFFSET ${limit - 1} LIMIT 1)`;

/** From the same IPv4 address, or the same IPv6 /48, which one customer may have: so nobody elsewhere can use up what counts apart. */
function isOfNetwork(ip: string | null | undefined): Prisma.Sql {
  // A link-local address has its interface after a percent sign.
  const [address = ""] = ip?.split("%") ?? [];
  const family = isIP(address);
  if (family === 0) return Prisma.sql`ip IS NULL`;
  const network = Prisma.sql`network(${`${address}/${family === 6 ? 48 : 32}`}::inet)`;
  return Prisma.sql`CASE WHEN ip ~* '^[0-9a-f:.]+(%.*)?$' THEN split_part(ip, '%', 1)::inet <<= ${network} END`;
}
