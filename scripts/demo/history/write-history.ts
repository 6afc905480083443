import type pg from "pg";
import { withConnection } from "#core/db.ts";
import { HISTORY_DAYS } from "../sample-commits.ts";

export type Rows = Readonly<Record<string, readonly object[]>>;

/** The samples become older than the history, because they must exist before their first use. */
const OLDER_DAYS = HISTORY_DAYS + 3;

/** Only rows of the samples' owners change, because with DATABASE_URL, the database may have other people's rows. */
const owned = {
  user: "id = ANY ($1)",
  organization: "id = ANY ($1)",
  membership: "org_id = ANY ($1)",
  oauth_app: "owner_user_id = ANY ($1) OR owner_org_id = ANY ($1)",
  webhook: "owner_id = ANY ($1)",
  repo: "owner_id = ANY ($1)",
} as const;

type History = {
  ownerIds: readonly string[];
  changes: ReadonlyArray<{ repoId: string; at: Date }>;
  rows: Rows;
};

/** Writes everything or nothing, so that the next run can start again after an interruption. */
export async function writeHistory({ ownerIds, changes, rows }: History): Promise<void> {
  await withConnection(async (client) => {
    await client.query("BEGIN");
    for (const [table, condition] of Object.entries(owned)) {
      const older = `created_at = created_at - make_interval(days => ${OLDER_DAYS})`;
      await client.query(`UPDATE "${table}" SET ${older} WHERE ${condition}`, [ownerIds]);
    }
    await client.query(
      "UPDATE repo r SET updated_at = c.at FROM unnest($1::text[], $2::timestamptz[]) AS c(id, at) WHERE r.id = c.id",
      [changes.map(({ repoId }) => repoId), changes.map(({ at }) => at)],
    );
    await client.query(
      "SELECT make_delivery_partitions((now() AT TIME ZONE 'UTC')::date - $1::int, (now() AT TIME ZONE 'UTC')::date)",
      [HISTORY_DAYS],
    );
    for (const [table, all] of Object.entries(rows)) await insert(client, table, all);
    await client.query("COMMIT");
  });
}

async function insert(client: pg.ClientBase, table: string, rows: readonly object[]): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const columns = Object.keys(first).join(", ");
  await client.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1::json)`,
    [JSON.stringify(rows)],
  );
}
