import { pool } from "#core/db.ts";

/** Apps that registered and that nobody has allowed anything; housekeeping deletes them after two weeks. */
export const UNUSED_MAX = 10_000;
/** Whoever registers goes on to the consent page within minutes. */
const SAFE_INTERVAL = "1 hour";

const IS_UNUSED = `registration_token_hash IS NOT NULL
  AND NOT EXISTS (SELECT FROM oauth_consent c WHERE c.client_id = oauth_app.client_id)`;

/**
 * Keeps a flood of registrations from filling the table: at the limit the oldest that nobody used give way. Refusing instead
 * would let the flood shut everybody else out; a program whose registration is gone registers again.
 */
export async function makeRoom(max = UNUSED_MAX): Promise<void> {
  const { rows } = await pool().query<{ unused: number }>({
    name: "count-unused-registrations",
    text: `SELECT count(*)::int AS unused FROM oauth_app WHERE ${IS_UNUSED}`,
  });
  const excess = (rows[0]?.unused ?? 0) + 1 - max;
  if (excess <= 0) return;
  await pool().query({
    name: "drop-unused-registrations",
    text: `DELETE FROM oauth_app WHERE id IN (
             SELECT id FROM oauth_app WHERE ${IS_UNUSED} AND updated_at < now() - interval '${SAFE_INTERVAL}'
              ORDER BY updated_at LIMIT $1)`,
    values: [excess],
  });
}
