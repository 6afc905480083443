import pg from "pg";
import { counted } from "#core/counted.ts";
import { db, pool } from "#core/db.ts";
import { env } from "#core/env.ts";
import { countUnderPreviousKey } from "#core/instance/rotate-secret-key.ts";
import { loadSigningKeys } from "#core/oauth/signing-keys.ts";
import { APPEND_ONLY_TABLES } from "#core/postgres/grant-to-service.ts";
import { isPooled, pendingMigrations } from "#core/postgres/migrate.ts";
import { type Finding, findings, reason } from "./finding.ts";

const OLDEST_VERSION = 15;
const SLOW_MS = 20;

export async function checkDatabase(): Promise<Finding[]> {
  const { rows } = await pool().query<{ version: string }>("SELECT current_setting('server_version') AS version");
  const version = rows[0]?.version ?? "unknown";
  const roundTripMs = await measureRoundTrip();
  const found = `PostgreSQL ${version}, round trip ${roundTripMs.toFixed(1)} ms`;
  return [serverFinding(found, Number.parseInt(version, 10), roundTripMs), ...(await checkPooler()), await checkMigrations()];
}

/** A pooler does not pass on a time limit for statements, so the role must have one. */
async function checkPooler(): Promise<Finding[]> {
  const pooler = findings("pooler");
  const { DATABASE_URL, DATABASE_DIRECT_URL } = env();
  if (!DATABASE_DIRECT_URL) return [];
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    if (!(await isPooled(client))) return [pooler.warn("DATABASE_URL leads to the server itself", "Remove DATABASE_DIRECT_URL.")];
    const { rows } = await client.query<{ limit: string }>("SELECT current_setting('statement_timeout') AS limit");
    if (rows[0]?.limit !== "0") return [pooler.ok("DATABASE_URL leads to it, and DATABASE_DIRECT_URL to the server")];
    const advice = "Give the role one: alter role … set statement_timeout = '15s' (docs/operations.md)";
    return [pooler.warn("statements have no time limit", advice)];
  } finally {
    await client.end();
  }
}

function serverFinding(found: string, version: number, roundTripMs: number): Finding {
  const database = findings("database");
  if (version < OLDEST_VERSION) return database.fail(found, `Upgrade it to PostgreSQL ${OLDEST_VERSION} or newer.`);
  if (roundTripMs > SLOW_MS)
    return database.warn(found, "Move the database closer: every request waits for several round trips.");
  return database.ok(found);
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
  const migrations = findings("migrations");
  const pending = await pendingMigrations(pool());
  if (pending.length === 0) return migrations.ok("the schema is up to date");
  return migrations.fail(`not applied yet: ${pending.join(", ")}`, "Restart the service: it applies them when it starts.");
}

export async function checkAuditLog(): Promise<Finding[]> {
  const auditLog = findings("audit log");
  const { rows } = await pool().query<{ role: string; mayChange: boolean; waiting: number }>(
    `SELECT current_user AS role,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) OR EXISTS (
              SELECT 1 FROM unnest($1::text[]) AS t (name) JOIN pg_class c ON c.oid = to_regclass(t.name)
               WHERE pg_has_role(c.relowner, 'MEMBER') OR has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE')) AS "mayChange",
            (SELECT count(*)::int FROM audit_unsealed u JOIN audit_event e ON e.id = u.event_id
              WHERE e.created_at < now() - interval '10 minutes') AS waiting`,
    [APPEND_ONLY_TABLES],
  );
  const { role, mayChange, waiting } = rows[0] ?? { role: "", mayChange: true, waiting: 0 };
  if (mayChange) {
    return [
      auditLog.warn(
        `only triggers keep it append-only, and the role "${role}" has the rights to bypass them`,
        "Create a second role that may only log in. Put it into DATABASE_URL and the owner into DATABASE_OWNER_URL (docs/guides/audit-log.md).",
      ),
    ];
  }
  if (waiting > 0) {
    return [
      auditLog.warn(
        `${counted(waiting, "entry has", "entries have")} been waiting to be sealed for over ten minutes`,
        "Read the worker's log.",
      ),
    ];
  }
  return [auditLog.ok(`append-only: the role "${role}" can only add entries`)];
}

// Authorization codes are valid for only a minute, and a difference between two clocks shortens that time.
const NOTICEABLE_SECONDS = 2;
const HARMFUL_SECONDS = 20;
const NEWEST_RECORD_TOLERANCE_SECONDS = 60;

/** Compares the machine's clock with the database and with earlier records, because a time server may not be reachable. */
export async function checkClock(): Promise<Finding[]> {
  const clock = findings("clock");
  const before = Date.now();
  const { rows } = await pool().query<{ now: Date; newest: Date | null }>(
    "SELECT clock_timestamp() AS now, (SELECT max(created_at) FROM audit_event) AS newest",
  );
  const ourTime = (before + Date.now()) / 2;
  const [row] = rows;
  if (!row) return [];
  const aheadSeconds = (ourTime - row.now.getTime()) / 1000;
  const found = `${Math.abs(aheadSeconds).toFixed(1)} s ${aheadSeconds < 0 ? "behind" : "ahead of"} the database's`;
  const advice = "Turn on time synchronization (NTP) on both machines: codes and tokens expire by these clocks.";
  if (Math.abs(aheadSeconds) > HARMFUL_SECONDS) return [clock.fail(found, advice)];
  if (Math.abs(aheadSeconds) > NOTICEABLE_SECONDS) return [clock.warn(found, advice)];
  if (row.newest && row.newest.getTime() - ourTime > NEWEST_RECORD_TOLERANCE_SECONDS * 1000) {
    return [
      clock.fail(
        `it shows ${new Date(ourTime).toISOString()}, but the newest audit log entry is from ${row.newest.toISOString()}`,
        advice,
      ),
    ];
  }
  return [clock.ok(`${new Date(ourTime).toISOString()}, ${found}`)];
}

const OLD_DAYS = 365;

/** Only the SECRET_KEY that encrypted the signing keys decrypts them. */
export async function checkKeys(): Promise<Finding[]> {
  const signingKeys = findings("signing keys");
  const newest = await db().signingKey.findFirst({ where: { retiredAt: null }, orderBy: { createdAt: "desc" } });
  if (!newest) return [signingKeys.ok("none yet: the service creates them when they are first needed")];
  try {
    const keys = await loadSigningKeys();
    const days = Math.floor((Date.now() - newest.createdAt.getTime()) / 86_400_000);
    if (days > OLD_DAYS)
      return [signingKeys.warn(`${counted(days, "day")} old`, "Create new ones: npm run --silent admin -- keys rotate")];
    return [signingKeys.ok(`${keys.length} published, the newest ${counted(days, "day")} old`)];
  } catch (error) {
    const advice =
      "Start with the SECRET_KEY that the service used before; without it, everything encrypted with that key is lost.";
    return [signingKeys.fail(`SECRET_KEY does not decrypt them (${reason(error)})`, advice)];
  }
}

export async function checkSecretKey(): Promise<Finding[]> {
  const secretKey = findings("secret key");
  if (!env().SECRET_KEY_PREVIOUS) return [];
  const count = await countUnderPreviousKey();
  if (count === 0)
    return [
      secretKey.ok(
        "no stored secret is encrypted with the previous one anymore; docs/operations.md (Keys) says what stops working when you remove it",
      ),
    ];
  return [
    secretKey.warn(
      `${counted(count, "stored secret is", "stored secrets are")} encrypted with the previous one`,
      "Run: npm run --silent admin -- secrets rotate",
    ),
  ];
}

export async function checkOperators(): Promise<Finding[]> {
  const operator = findings("operator");
  const operators = await db().user.count({ where: { isOperator: true, disabledAt: null } });
  if (operators > 0) return [operator.ok(operators === 1 ? "one" : String(operators))];
  const advice = "Open the setup link that the service prints when it starts, or use: user create --operator";
  return [operator.warn("none yet", advice)];
}
