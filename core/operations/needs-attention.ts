import { env } from "../env.ts";
import type { Overview, Queue } from "./read-overview.ts";

/** Something that needs an operator's attention, and where. */
export type Concern = {
  tone: "bad" | "warn";
  /** What is wrong and what to do, in full sentences. */
  text: string;
  /** The page with details; null if the operator has to check the machine itself. */
  href: string | null;
};

const LATE_MS = 15 * 60_000;
const EVENT_LATE_MS = 2 * 60_000;
const KEY_OLD_MS = 365 * 24 * 3600_000;
const DISK_LOW_SHARE = 0.1;
const DISK_LOW_BYTES = 5 * 1024 ** 3;
const CONNECTIONS_HIGH_SHARE = 0.85;

/** What needs attention in an installation, worst first; empty if all is well. */
export function needsAttention(overview: Overview, now = new Date()): Concern[] {
  const { processes, queues, work, database, disk, signingKeySince, version } = overview;
  const alive = processes.filter(({ isSilent }) => !isSilent);
  const bad: Concern[] = [];
  const warn: Concern[] = [];
  if (!alive.some(({ kind }) => kind === "worker")) {
    bad.push({
      tone: "bad",
      text: "No worker runs: no mail is sent, no webhook is told of anything and no job starts. Look at the service's log.",
      href: null,
    });
  }
  const others = [...new Set(alive.filter((each) => each.version !== version).map((each) => each.version))];
  if (others.length > 0) {
    warn.push({
      tone: "warn",
      text: `Processes of other versions run beside this one (${others.join(", ")}). That is fine during an upgrade and not after it.`,
      href: null,
    });
  }
  for (const { address } of overview.untrustedProxies.filter(({ isNear }) => isNear)) {
    const text =
      `Requests come through a proxy at ${address}, which TRUST_PROXY does not name: everybody counts as one client, and one person's ` +
      "wrong passwords stop sign-in for all. Add the address to TRUST_PROXY.";
    bad.push({ tone: "bad", text, href: null });
  }
  const late = (queue: Queue) => queue.oldestAt !== null && now.getTime() - queue.oldestAt.getTime() > LATE_MS;
  if (late(queues.mail)) {
    bad.push({ tone: "bad", text: `Mail has waited for over 15 minutes (${queues.mail.waiting} letters).`, href: "/admin/mail" });
  }
  if (queues.mail.failed > 0) {
    warn.push({ tone: "warn", text: `${count(queues.mail.failed, "letter")} given up within a week.`, href: "/admin/mail" });
  }
  if (!env().SMTP_URL) {
    warn.push({ tone: "warn", text: "SMTP_URL is not set: letters become files that nobody gets.", href: "/admin/mail" });
  }
  if (late(queues.logoutNotices)) {
    warn.push({ tone: "warn", text: "Apps have not been told of sign-outs for over 15 minutes.", href: null });
  }
  if (now.getTime() - (work.events.oldestAt ?? now).getTime() > EVENT_LATE_MS) {
    const text = `Events have waited for over two minutes (${work.events.waiting}), and no webhook is told of them. Look at the workers' log.`;
    bad.push({ tone: "bad", text, href: null });
  }
  if (now.getTime() - (work.deliveries.oldestDueAt ?? now).getTime() > LATE_MS) {
    const text = `Deliveries have been due for over 15 minutes (${work.deliveries.due}): receivers are slow, or workers too few.`;
    warn.push({ tone: "warn", text, href: null });
  }
  if (disk && disk.freeBytes < Math.min(disk.totalBytes * DISK_LOW_SHARE, DISK_LOW_BYTES)) {
    bad.push({ tone: "bad", text: "The disk of DATA_DIR is almost full: make room, or pushes and uploads fail.", href: null });
  }
  if (database.connections > database.maxConnections * CONNECTIONS_HIGH_SHARE) {
    const figures = `${database.connections} of ${database.maxConnections}`;
    warn.push({ tone: "warn", text: `The database has few connections left (${figures} are in use).`, href: null });
  }
  if (signingKeySince && now.getTime() - signingKeySince.getTime() > KEY_OLD_MS) {
    warn.push({ tone: "warn", text: "The signing keys are over a year old. Rotate them.", href: "/admin/keys" });
  }
  if (env().OUTBOUND_ALLOW_CIDRS.some((range) => range.endsWith("/0"))) {
    bad.push({ tone: "bad", text: "OUTBOUND_ALLOW_CIDRS opens every address, internal ones too.", href: "/admin/outbound" });
  }
  return [...bad, ...warn];
}

const count = (number: number, what: string): string =>
  number === 1 ? `1 ${what} was` : `${number.toLocaleString("en")} ${what}s were`;
