import { pool } from "#core/db.ts";
import { pendingMigrations } from "#core/postgres/pending-migrations.ts";
import { type Finding, findings } from "./finding.ts";

const report = findings("database");
const migrations = findings("migrations");
const OLDEST_VERSION = 15;
const SLOW_MS = 20;

/** The version, the way there, and whether its schema is this version's. */
export async function checkDatabase(): Promise<Finding[]> {
  const { rows } = await pool().query<{ version: string }>("SELECT current_setting('server_version') AS version");
  const version = rows[0]?.version ?? "unknown";
  const roundTripMs = await measureRoundTrip();
  const found = `PostgreSQL ${version}, ${roundTripMs.toFixed(1)} ms away`;
  return [judge(found, Number.parseInt(version, 10), roundTripMs), await checkMigrations()];
}

function judge(found: string, version: number, roundTripMs: number): Finding {
  if (version < OLDEST_VERSION) return report.fail(found, `Upgrade it to PostgreSQL ${OLDEST_VERSION} or newer.`);
  if (roundTripMs > SLOW_MS) return report.warn(found, "Bring it closer: every request waits for several round trips.");
  return report.ok(found);
}

async function measureRoundTrip(): Promise<number> {
  const tries: number[] = [];
  for (let at = 0; at < 5; at++) {
    const start = performance.now();
    await pool().query("SELECT 1");
    tries.push(performance.now() - start);
  }
  return Math.min(...tries);
}

async function checkMigrations(): Promise<Finding> {
  const pending = await pendingMigrations(pool());
  if (pending.length === 0) return migrations.ok("the schema is up to date");
  return migrations.fail(`not applied yet: ${pending.join(", ")}`, "Restart the service: it applies them as it starts.");
}
