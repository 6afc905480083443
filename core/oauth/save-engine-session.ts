import Provider from "oidc-provider";
import { pool } from "#core/db.ts";
import { type Payload, upsertArtifact } from "./artifact-store.ts";
import { siteSessionOf } from "./site-session.ts";
import { storeOfParty } from "./store-of-party.ts";

/**
 * Stores an engine session with the site session that it is used under, whose end ends it (docs/decisions/007, S109). Without
 * either of them the engine has only touched it, and it says nothing of anybody: stored, each request of a stranger would be a row (S143).
 */
export async function saveEngineSession(id: string, payload: Payload, expiresIn: number): Promise<void> {
  const ctx = Provider.ctx;
  const site = ctx && (await siteSessionOf(ctx));
  if (!site) return payload.accountId === undefined ? undefined : upsertArtifact("Session", id, payload, expiresIn);
  const isOfSite = site.user.id === payload.accountId;
  await storeOfParty(
    "Session",
    id,
    isOfSite ? { ...payload, siteSessionId: site.id } : payload,
    expiresIn,
    `site session ${site.id}`,
  );
  if (!isOfSite) return;
  // It may have ended while this request was under way, and its engine sessions may have been looked for before this one was there.
  await pool().query({
    name: "note-late-engine-session",
    text: `INSERT INTO site_session_end (site_session_id)
      SELECT $1 WHERE NOT EXISTS (SELECT FROM site_session WHERE id = $1 AND ended_at IS NULL) ON CONFLICT DO NOTHING`,
    values: [site.id],
  });
}

/** Whether an engine session was last used under a site session that is over: the person has signed out, and in again since. */
export async function isUnderEndedSiteSession({ siteSessionId }: Payload): Promise<boolean> {
  const ctx = Provider.ctx;
  if (!ctx || typeof siteSessionId !== "string" || (await siteSessionOf(ctx))?.id === siteSessionId) return false;
  const { rowCount } = await pool().query({
    name: "is-site-session-alive",
    text: "SELECT FROM site_session WHERE id = $1 AND ended_at IS NULL AND expires_at > now()",
    values: [siteSessionId],
  });
  return rowCount === 0;
}
