import { isIP } from "node:net";
import type { Db } from "../db.ts";
import { ServiceError } from "../errors.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { type AuditEventType, auditEventTypes } from "./event-types.ts";
import type { RequestOrigin } from "./request-origin.ts";

/** The limit for a user's changes on the pages. Each app and each personal access token may make the same number. */
export const ENTRIES_PER_HOUR = 1_000;
export const ENTRIES_WITH_TOKENS_PER_HOUR = 3 * ENTRIES_PER_HOUR;
/** The limit for a kind that counts `apart`, from one network. */
export const APART_PER_HOUR = 200;
export const APART_ANYWHERE_PER_HOUR = 10 * APART_PER_HOUR;
/** These have no limit over all networks, because a thief elsewhere could lock the owner out. */
const passwordActions: readonly AuditEventType[] = ["user.sign_in", "user.reauthenticate", "user.change_password"];

const typesBound = (bound: "apart" | undefined): AuditEventType[] =>
  (Object.keys(auditEventTypes) as AuditEventType[]).filter((type) => auditEventTypes[type].bound === bound);
const hourly = typesBound(undefined);
const hourlyWithTokens = [...hourly, ...typesBound("apart")];

/** Locks nothing, so concurrent changes may together exceed the limit (decision 083). */
export async function requireAllowance(db: Db, actorId: string, type: AuditEventType, from?: RequestOrigin): Promise<void> {
  const { bound } = auditEventTypes[type];
  if (bound && bound !== "apart") return;
  const [refused] = await db.$queryRaw<{ seconds: number }[]>`
    SELECT greatest(1, ceil(extract(epoch FROM max(at) + interval '1 hour' - now())))::int AS seconds
    FROM (${Prisma.join(limitsOf(actorId, type, from), " UNION ALL ")}) AS reached (at) HAVING max(at) IS NOT NULL`;
  if (!refused) return;
  const minutes = Math.ceil(refused.seconds / 60);
  const when = minutes === 1 ? "in a minute" : `in ${minutes} minutes`;
  const description = `This account has made too many changes in the last hour. Try again ${when}.`;
  throw new ServiceError("rate_limited", description, { retryAfterSeconds: refused.seconds });
}

/** Each query returns no row if there is room, or else the time of the entry that must first become an hour old. */
function limitsOf(actorId: string, type: AuditEventType, { ip, token }: Partial<RequestOrigin> = {}): Prisma.Sql[] {
  // All conditions are in the WHERE, so that OFFSET skips only entries that count.
  const nth = (limit: number, types: readonly AuditEventType[], isCounted: Prisma.Sql): Prisma.Sql => Prisma.sql`(
    SELECT created_at FROM audit_event
    WHERE actor_id = ${actorId} AND created_at > now() - interval '1 hour' AND created_at < date_trunc('milliseconds', now())
      AND type = ANY (${types}) AND ${isCounted} ORDER BY created_at DESC OFFSET ${limit - 1} LIMIT 1)`;
  if (token) {
    const holder = token.clientId ?? token.id;
    const withSame = nth(
      ENTRIES_PER_HOUR,
      hourlyWithTokens,
      Prisma.sql`coalesce(token ->> 'clientId', token ->> 'id') = ${holder}`,
    );
    // An organization's program acts in members' names, and must not use up the members' own limits.
    if (token.type === "exchanged") return [withSame];
    return [withSame, nth(ENTRIES_WITH_TOKENS_PER_HOUR, hourlyWithTokens, Prisma.sql`token ->> 'type' <> 'exchanged'`)];
  }
  const onPages = Prisma.sql`token IS NULL`;
  if (!auditEventTypes[type].bound) return [nth(ENTRIES_PER_HOUR, hourly, onPages)];
  const inNetwork = nth(APART_PER_HOUR, [type], Prisma.sql`${onPages} AND ${isOfNetwork(ip)}`);
  return passwordActions.includes(type) ? [inNetwork] : [inNetwork, nth(APART_ANYWHERE_PER_HOUR, [type], onPages)];
}

/** An IPv6 network is a /48, which one customer may have. */
function isOfNetwork(ip: string | null | undefined): Prisma.Sql {
  // A link-local address ends in a percent sign and its interface.
  const [address = ""] = ip?.split("%") ?? [];
  const family = isIP(address);
  if (family === 0) return Prisma.sql`ip IS NULL`;
  const network = Prisma.sql`network(${`${address}/${family === 6 ? 48 : 32}`}::inet)`;
  return Prisma.sql`CASE WHEN ip ~* '^[0-9a-f:.]+(%.*)?$' THEN split_part(ip, '%', 1)::inet <<= ${network} END`;
}
