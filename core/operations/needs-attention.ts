import { counted } from "../counted.ts";
import { env } from "../env.ts";
import { isBackupLate } from "./last-backup.ts";
import type { Overview, Queue } from "./read-overview.ts";

type Concern = {
  tone: "bad" | "warn";
  text: string;
  /** Null if the operator has to check the machine. */
  href: string | null;
};

const LATE_MS = 15 * 60_000;
const EVENT_LATE_MS = 2 * 60_000;
const KEY_OLD_MS = 365 * 24 * 3600_000;
const DISK_LOW_SHARE = 0.1;
const DISK_LOW_BYTES = 5 * 1024 ** 3;
const CONNECTIONS_HIGH_SHARE = 0.85;

export function needsAttention(overview: Overview, now = new Date()): Concern[] {
  const { processes, queues, work, runner, database, disk, signingKeySince, version } = overview;
  const alive = processes.filter(({ isSilent }) => !isSilent);
  const bad: Concern[] = [];
  const warn: Concern[] = [];
  if (!alive.some(({ kind }) => kind === "worker")) {
    bad.push({
      tone: "bad",
      text: "No worker is running: no e-mail is sent, no webhook is called and no job starts. Check the service's log.",
      href: null,
    });
  }
  const others = [...new Set(alive.filter((each) => each.version !== version).map((each) => each.version))];
  if (others.length > 0) {
    warn.push({
      tone: "warn",
      text: `Processes of other versions are running (${others.join(", ")}). This is expected only during an upgrade.`,
      href: null,
    });
  }
  for (const { address } of overview.untrustedProxies.filter(({ isNear }) => isNear)) {
    const text =
      `Requests with X-Forwarded-For come from ${address}, which is not in TRUST_PROXY. If that is your proxy's address, add it there: until then, ` +
      "all users behind the proxy count as one client, and one user's wrong passwords block sign-in for all of them. If not, find out who " +
      "sends the header.";
    bad.push({ tone: "bad", text, href: null });
  }
  const late = (queue: Queue) => queue.oldestAt !== null && now.getTime() - queue.oldestAt.getTime() > LATE_MS;
  if (late(queues.mail)) {
    bad.push({
      tone: "bad",
      text: `${counted(queues.mail.waiting, "e-mail has", "e-mails have")} been waiting${oldestOf(queues.mail.waiting)} for over 15 minutes.`,
      href: "/admin/mail",
    });
  }
  if (queues.mail.failed > 0) {
    warn.push({
      tone: "warn",
      text: `${counted(queues.mail.failed, "e-mail")} could not be sent in the last 7 days.`,
      href: "/admin/mail",
    });
  }
  if (!env().SMTP_URL) {
    warn.push({ tone: "warn", text: "E-mail is not configured: messages are kept for a week, not sent.", href: "/admin/mail" });
  }
  if (late(queues.logoutNotices)) {
    const text = "Sign-out notices to apps have been waiting for over 15 minutes. Check the workers' log.";
    warn.push({ tone: "warn", text, href: null });
  }
  if (now.getTime() - (work.events.oldestAt ?? now).getTime() > EVENT_LATE_MS) {
    const text = `${counted(work.events.waiting, "event has", "events have")} been waiting${oldestOf(work.events.waiting)} for over two minutes without reaching any webhook. Check the workers' log.`;
    bad.push({ tone: "bad", text, href: null });
  }
  if (now.getTime() - (work.deliveries.oldestDueAt ?? now).getTime() > LATE_MS) {
    const text = `${counted(work.deliveries.due, "delivery has", "deliveries have")} been due${oldestOf(work.deliveries.due)} for over 15 minutes: receivers are slow, or there are too few workers.`;
    warn.push({ tone: "warn", text, href: null });
  }
  if (runner.kind === "refuses" && env().JOBS_RUNNER !== "off") warn.push({ tone: "warn", text: runner.refusal, href: null });
  if (runner.kind === "runs" && runner.runner === "unsandboxed") {
    const text =
      "Jobs run as this service's own user, and Spaces do not run (JOBS_RUNNER=unsandboxed). Install bubblewrap and unset JOBS_RUNNER, " +
      "unless everybody who can run jobs may do everything that the service can.";
    warn.push({ tone: "warn", text, href: null });
  }
  if (disk && disk.freeBytes < Math.min(disk.totalBytes * DISK_LOW_SHARE, DISK_LOW_BYTES)) {
    bad.push({
      tone: "bad",
      text: "The disk of DATA_DIR is almost full: free some space, or pushes and uploads will fail.",
      href: null,
    });
  }
  if (database.connections > database.maxConnections * CONNECTIONS_HIGH_SHARE) {
    const figures = `${database.connections} of ${database.maxConnections}`;
    const text = `The database has few connections left (${figures} are in use). Raise its max_connections, or run fewer processes.`;
    warn.push({ tone: "warn", text, href: null });
  }
  if (overview.lastBackup && isBackupLate(overview.lastBackup, now)) {
    const text = `The last backup was completed on ${overview.lastBackup.finishedAt.toISOString().slice(0, 10)}. Check the log of the timer that runs backups.`;
    bad.push({ tone: "bad", text, href: null });
  }
  const unread = overview.lastBackup?.unread ?? [];
  if (unread.length > 0) {
    const text =
      `The last backup lacks the branches and tags of ${counted(unread.length, "repository", "repositories")}, which git could not list: ` +
      `${unread.join(", ")}. Repair their data in DATA_DIR/repositories, and create a new backup. Until then, --keep deletes no old backups.`;
    bad.push({ tone: "bad", text, href: null });
  }
  if (signingKeySince && now.getTime() - signingKeySince.getTime() > KEY_OLD_MS) {
    warn.push({ tone: "warn", text: "The signing keys are over a year old. Rotate them.", href: "/admin/keys" });
  }
  if (env().OUTBOUND_ALLOW_CIDRS.some((range) => range.endsWith("/0"))) {
    bad.push({
      tone: "bad",
      text: "OUTBOUND_ALLOW_CIDRS allows every address, including internal ones. List only the ranges of your receivers.",
      href: "/admin/outbound",
    });
  }
  return [...bad, ...warn];
}

const oldestOf = (count: number): string => (count === 1 ? "" : ", the oldest");
