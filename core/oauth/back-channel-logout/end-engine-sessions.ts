import { type Db, db } from "#core/db.ts";
import { type NewLogoutNotice, queueLogoutNotices } from "./queue-logout-notices.ts";

/** NOTIFY channel: site sessions ended. The database announces it (prisma/migrations, site_session_end). */
export const SITE_SESSION_END_CHANNEL = "site_session_end";

/** Site sessions per transaction. */
const BATCH = 100;

/**
 * For ended site sessions: ends the authorizations in the engine's sessions and queues the apps' logout notices, in one transaction, so
 * that another worker can take over from one that dies. This runs however a site session ends.
 * @returns whether there may be more.
 */
export async function endEngineSessions(): Promise<boolean> {
  return db().$transaction(async (tx) => {
    const over = await tx.$queryRaw<{ id: string }[]>`
      DELETE FROM site_session_end WHERE site_session_id IN (
        SELECT site_session_id FROM site_session_end ORDER BY ended_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING site_session_id AS id`;
    if (over.length === 0) return false;
    const siteSessionIds = over.map(({ id }) => id);
    // The rest of the row serves nobody (save-engine-session.ts). It identifies whose the browser's open interactions were, so that another
    // user who signed in meanwhile is told that, and not that the interaction expired (S25, S34). Housekeeping deletes it.
    const ended = await tx.$queryRaw<EndedSession[]>`
      WITH over AS (
        SELECT id_hash, account_id, payload->'authorizations' AS authorizations FROM oauth_artifact
         WHERE model = 'Session' AND payload->>'siteSessionId' = ANY (${siteSessionIds}) FOR UPDATE)
      UPDATE oauth_artifact a SET payload = a.payload - 'authorizations' FROM over
       WHERE a.model = 'Session' AND a.id_hash = over.id_hash
      RETURNING over.account_id AS "userId", over.authorizations`;
    await queueLogoutNotices(tx, await wanted(tx, ended.flatMap(noticesOf)));
    return over.length === BATCH;
  });
}

/** @property authorizations client ID → what the engine stores for that client in the session. */
type EndedSession = { userId: string; authorizations: Record<string, { sid?: string }> | null };

function noticesOf({ userId, authorizations }: EndedSession): NewLogoutNotice[] {
  return Object.entries(authorizations ?? {}).map(([clientId, { sid }]) => ({ clientId, userId, sid: sid ?? null }));
}

/** Only the notices for clients with a back-channel logout URI. */
async function wanted(tx: Db, notices: NewLogoutNotice[]): Promise<NewLogoutNotice[]> {
  const clientIds = [...new Set(notices.map(({ clientId }) => clientId))];
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT client_id AS id FROM oauth_app WHERE client_id = ANY (${clientIds}) AND backchannel_logout_uri IS NOT NULL
    UNION ALL
    SELECT client_id FROM oauth_client_document WHERE client_id = ANY (${clientIds}) AND metadata ? 'backchannel_logout_uri'`;
  const listening = new Set(rows.map(({ id }) => id));
  return notices.filter(({ clientId }) => listening.has(clientId));
}
