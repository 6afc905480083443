import { statfs } from "node:fs/promises";
import packageJson from "../../package.json" with { type: "json" };
import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { db } from "../db.ts";
import { env } from "../env.ts";
import { type RunnerReport, readRunnerReport } from "../jobs/runners/runner-report.ts";
import { type ProcessKind, SILENT_AFTER_SECONDS } from "./heartbeat.ts";
import { type LastBackup, readLastBackup } from "./last-backup.ts";
import { type RecentAttempts, readAttempts, readWork, type Work } from "./metrics/read-work.ts";
import { findUntrustedProxies, type UntrustedProxy } from "./untrusted-proxy.ts";

export type RunningProcess = {
  kind: ProcessKind;
  host: string;
  pid: number;
  version: string;
  startedAt: Date;
  seenAt: Date;
  isSilent: boolean;
};

export type Queue = { waiting: number; oldestAt: Date | null; failed: number };

export type Overview = {
  version: string;
  processes: RunningProcess[];
  queues: { mail: Queue; logoutNotices: Queue; maintenance: Queue };
  work: Work;
  attempts: RecentAttempts;
  events: number;
  database: { sizeBytes: number; connections: number; maxConnections: number };
  disk: { path: string; freeBytes: number; totalBytes: number } | null;
  untrustedProxies: UntrustedProxy[];
  runner: RunnerReport;
  lastBackup: LastBackup | undefined;
  signingKeySince: Date | null;
  people: { users: number; disabled: number; operators: number };
};

const PROCESSES_MAX = 50;

export async function readOverview(actor: Actor): Promise<Overview> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const [processes, counts, work, attempts, disk, untrustedProxies, runner, lastBackup] = await Promise.all([
    readProcesses(),
    readCounts(),
    readWork(),
    readAttempts(),
    readDisk(),
    findUntrustedProxies(),
    readRunnerReport(),
    readLastBackup(),
  ]);
  return { version: packageJson.version, processes, work, attempts, disk, untrustedProxies, runner, lastBackup, ...counts };
}

async function readProcesses(): Promise<RunningProcess[]> {
  return db().$queryRaw<RunningProcess[]>`
    SELECT kind, host, pid, version, started_at AS "startedAt", seen_at AS "seenAt",
           seen_at < now() - make_interval(secs => ${SILENT_AFTER_SECONDS}) AS "isSilent"
      FROM process_heartbeat WHERE seen_at > now() - interval '1 day'
     ORDER BY kind DESC, seen_at DESC, id LIMIT ${PROCESSES_MAX}`;
}

type Counts = {
  mail: number;
  mailOldest: Date | null;
  mailFailed: number;
  notices: number;
  noticesOldest: Date | null;
  noticesFailed: number;
  maintenance: number;
  maintenanceOldest: Date | null;
  events: number;
  size: number;
  connections: number;
  maxConnections: number;
  keySince: Date | null;
  users: number;
  disabled: number;
  operators: number;
};

async function readCounts(): Promise<
  Omit<Overview, "version" | "processes" | "work" | "attempts" | "disk" | "untrustedProxies" | "runner" | "lastBackup">
> {
  const [row] = await db().$queryRaw<Counts[]>`
    SELECT m.waiting AS mail, m.oldest AS "mailOldest", n.waiting AS notices, n.oldest AS "noticesOldest",
           r.waiting AS maintenance, r.oldest AS "maintenanceOldest",
           (SELECT count(*)::int FROM mail WHERE failed_at > now() - interval '7 days') AS "mailFailed",
           (SELECT count(*)::int FROM oauth_logout_notice WHERE failed_at > now() - interval '7 days') AS "noticesFailed",
           (SELECT count(*)::int FROM event WHERE created_at > now() - interval '1 day') AS events,
           pg_database_size(current_database())::float8 AS size,
           (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
           current_setting('max_connections')::int AS "maxConnections",
           (SELECT max(active_at) FROM signing_key WHERE retired_at IS NULL AND active_at <= now()) AS "keySince",
           (SELECT count(*)::int FROM "user") AS users,
           (SELECT count(*)::int FROM "user" WHERE disabled_at IS NOT NULL) AS disabled,
           (SELECT count(*)::int FROM "user" WHERE is_operator) AS operators
      FROM (SELECT count(*)::int AS waiting, min(created_at) AS oldest FROM mail WHERE sent_at IS NULL AND failed_at IS NULL) m,
           (SELECT count(*)::int AS waiting, min(created_at) AS oldest FROM oauth_logout_notice
             WHERE sent_at IS NULL AND failed_at IS NULL) n,
           (SELECT count(*)::int AS waiting, min(due_at) AS oldest FROM repo_maintenance WHERE due_at <= now()) r`;
  if (!row) throw new Error("the query for the counts returned no row");
  const { size, connections, maxConnections, users, disabled, operators } = row;
  return {
    queues: {
      mail: { waiting: row.mail, oldestAt: row.mailOldest, failed: row.mailFailed },
      logoutNotices: { waiting: row.notices, oldestAt: row.noticesOldest, failed: row.noticesFailed },
      maintenance: { waiting: row.maintenance, oldestAt: row.maintenanceOldest, failed: 0 },
    },
    events: row.events,
    database: { sizeBytes: size, connections, maxConnections },
    signingKeySince: row.keySince,
    people: { users, disabled, operators },
  };
}

async function readDisk(): Promise<Overview["disk"]> {
  const path = env().DATA_DIR;
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { path, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}
