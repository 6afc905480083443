import { pool } from "../../db.ts";

/** Marks expired sessions as ended, so that what follows the end of a session happens for them too. They already grant nothing. */
export async function endExpiredSiteSessions(): Promise<void> {
  await pool().query("UPDATE site_session SET ended_at = expires_at WHERE expires_at <= now() AND ended_at IS NULL");
}
