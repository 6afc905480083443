import { pool } from "../../db.ts";

/** Marks as ended what has expired, so that whatever follows the end of a session follows here too. They serve nobody meanwhile. */
export async function endExpiredSiteSessions(): Promise<void> {
  await pool().query("UPDATE site_session SET ended_at = expires_at WHERE expires_at <= now() AND ended_at IS NULL");
}
