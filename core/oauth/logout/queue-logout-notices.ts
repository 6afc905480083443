import { type Db, db } from "#core/db.ts";
import { newOrderedId } from "#core/ids.ts";
import { log } from "#core/log.ts";
import type { LeasedTable } from "#core/postgres/leased-table.ts";

/** A database trigger notifies this channel (prisma/migrations, site_session_end). */
export const SITE_SESSION_END_CHANNEL = "site_session_end";

const BATCH = 100;

/**
 * Uses one transaction, so that another worker can take over if this one dies.
 * @returns whether there may be more
 */
export async function endEngineSessions(): Promise<boolean> {
  return db().$transaction(async (tx) => {
    const over = await tx.$queryRaw<{ id: string }[]>`
      DELETE FROM site_session_end WHERE site_session_id IN (
        SELECT site_session_id FROM site_session_end ORDER BY ended_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING site_session_id AS id`;
    if (over.length === 0) return false;
    const siteSessionIds = over.map(({ id }) => id);
    // The row of an ended session stays: it shows whose interactions are open in the browser (S25, S34).
    const ended = await tx.$queryRaw<EndedSession[]>`
      WITH over AS (
        SELECT id_hash, account_id, payload->'authorizations' AS authorizations FROM oauth_artifact
         WHERE model = 'Session' AND payload->>'siteSessionId' = ANY (${siteSessionIds}) FOR UPDATE)
      UPDATE oauth_artifact a SET payload = a.payload - 'authorizations' FROM over
       WHERE a.model = 'Session' AND a.id_hash = over.id_hash
      RETURNING over.account_id AS "userId", over.authorizations`;
    await queueLogoutNotices(tx, await withLogoutUri(tx, withoutDuplicates(ended.flatMap(noticesOf))));
    return over.length === BATCH;
  });
}

type EndedSession = { userId: string; authorizations: Record<string, { sid?: string }> | null };

function noticesOf({ userId, authorizations }: EndedSession): NewLogoutNotice[] {
  return Object.entries(authorizations ?? {}).map(([clientId, { sid }]) => ({ clientId, userId, sid: sid ?? null }));
}

/** Without a `sid`, a client cannot distinguish sessions, so one notice ends all of them. */
function withoutDuplicates(notices: NewLogoutNotice[]): NewLogoutNotice[] {
  return [...new Map(notices.map((notice) => [`${notice.clientId} ${notice.userId} ${notice.sid}`, notice])).values()];
}

async function withLogoutUri(tx: Db, notices: NewLogoutNotice[]): Promise<NewLogoutNotice[]> {
  const clientIds = [...new Set(notices.map(({ clientId }) => clientId))];
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT client_id AS id FROM oauth_app WHERE client_id = ANY (${clientIds}) AND backchannel_logout_uri IS NOT NULL
    UNION ALL
    SELECT client_id FROM oauth_client_document WHERE client_id = ANY (${clientIds}) AND metadata ? 'backchannel_logout_uri'`;
  const listening = new Set(rows.map(({ id }) => id));
  return notices.filter(({ clientId }) => listening.has(clientId));
}

type NewLogoutNotice = { clientId: string; userId: string; sid: string | null };

/** Call this in the transaction that ends the session (S109). */
export async function queueLogoutNotices(db: Db, notices: NewLogoutNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await db.oAuthLogoutNotice.createMany({ data: notices.map((notice) => ({ id: newOrderedId(), ...notice })) });
  await dropOldest(db, [...new Set(notices.map(({ userId }) => userId))]);
  await db.$executeRaw`select pg_notify(${LOGOUT_NOTICE_CHANNEL}, '')`;
}

/** A user who signs in and out all day loses only their own oldest notices. */
export const OPEN_OF_USER_MAX = 1_000;

async function dropOldest(db: Db, userIds: string[]): Promise<void> {
  const dropped = await db.$executeRaw`
    DELETE FROM oauth_logout_notice WHERE id IN (
      SELECT id FROM oauth_logout_notice WHERE id IN (
        SELECT n.id FROM unnest(${userIds}::text[]) AS u(id) CROSS JOIN LATERAL (
          SELECT id FROM oauth_logout_notice WHERE user_id = u.id AND sent_at IS NULL AND failed_at IS NULL
          ORDER BY id DESC OFFSET ${OPEN_OF_USER_MAX}) AS n)
      AND sent_at IS NULL AND failed_at IS NULL AND (claimed_until IS NULL OR claimed_until <= now()) FOR UPDATE SKIP LOCKED)`;
  if (dropped > 0) log().warn({ userIds, dropped }, "users had too many logout notices; the oldest were dropped");
}

export const SENT_OF_APP_MAX = 8;

/** Users take turns, because one user may sign in to and out of a slow app all day. */
export const logoutNoticeTable: LeasedTable = {
  name: "oauth_logout_notice",
  isOpen: "sent_at is null and failed_at is null",
  share: {
    party: "user_id",
    isShort: "false",
    isLeftOver: "false",
    part: 0.25,
    crowd: { of: "client_id", max: SENT_OF_APP_MAX },
  },
};

export const LOGOUT_NOTICE_CHANNEL = "oauth_logout_notice";

export type QueuedLogoutNotice = {
  id: string;
  client_id: string;
  user_id: string;
  /** The value in the ID tokens that the client got for this session. */
  sid: string | null;
  created_at: Date;
  attempts: number;
};
