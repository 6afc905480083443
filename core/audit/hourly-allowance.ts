import type { Db } from "../db.ts";
import { ServiceError } from "../errors.ts";
import type { AuditEventType } from "./event-types.ts";

/** What one account may record in an hour: far above what people do, and enough for a program that starts jobs. */
export const ENTRIES_PER_HOUR = 1_000;
/** What is looked at of an account's last hour. Exchanges, which do not count, may be many more. */
const LOOKED_AT = 5 * ENTRIES_PER_HOUR;

/**
 * What only somebody who is signed in here does, never an app for them. It has an allowance of its own: otherwise an app that somebody
 * let in could keep them from signing in and from taking back what they allowed, by changing other things all the time.
 */
const ownScopes = [
  "user",
  "second_step",
  "passkey",
  "totp",
  "recovery_code",
  "linked_identity",
  "personal_access_token",
  "oauth_consent",
  "device",
];

/**
 * Refuses a change whose entry would be more than an account may record in an hour (decision 083). Entries are counted where they are,
 * so that what was rolled back does not count, and nothing is locked: changes that run at the same time can each be the last one. What
 * belongs to the same transaction counts as one: it began with all of it allowed, or none. `created_at` is its beginning, in milliseconds.
 * @throws ServiceError `rate_limited`
 */
export async function requireAllowance(db: Db, actorId: string, type: AuditEventType): Promise<void> {
  const isOwn = ownScopes.includes(type.slice(0, type.indexOf(".")));
  const [refused] = await db.$queryRaw<{ seconds: number }[]>`
    SELECT greatest(1, ceil(extract(epoch FROM created_at + interval '1 hour' - now())))::int AS seconds FROM (
      SELECT type, created_at FROM audit_event
      WHERE actor_id = ${actorId} AND created_at > now() - interval '1 hour' AND created_at < date_trunc('milliseconds', now())
      ORDER BY created_at DESC LIMIT ${LOOKED_AT}) latest
    WHERE (split_part(type, '.', 1) = ANY (${ownScopes})) = ${isOwn} AND type <> 'oauth_token.exchange'
    ORDER BY created_at DESC OFFSET ${ENTRIES_PER_HOUR - 1} LIMIT 1`;
  if (!refused) return;
  const minutes = Math.ceil(refused.seconds / 60);
  const when = minutes === 1 ? "in a minute" : `in ${minutes} minutes`;
  const description = `This account has changed ${ENTRIES_PER_HOUR} things in an hour. Try again ${when}.`;
  throw new ServiceError("rate_limited", description, { retryAfterSeconds: refused.seconds });
}
