import ipaddr from "ipaddr.js";
import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { db } from "../db.ts";
import { env } from "../env.ts";
import { readRunnerReport } from "../jobs/runners/runner-report.ts";
import { readLastBackup } from "./last-backup.ts";

export const setUpSteps = ["origin", "mail", "sandbox", "backups"] as const;
export type SetUpStep = (typeof setUpSteps)[number];

const KEY = "set_up";
type Stored = { backupsConfirmedAt?: string; dismissedAt?: string };

/**
 * An operator confirms backups that the service does not know of.
 * @returns null if all steps are done or were dismissed
 */
export async function readSetUpSteps(actor: Actor): Promise<{ step: SetUpStep; isDone: boolean }[] | null> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  if ((await readStored()).dismissedAt) return null;
  const [isSandboxed, isMailWorking, isBackedUp] = await Promise.all([
    areJobsSandboxed(),
    isMailSet(),
    readLastBackup().then((last) => last !== undefined || areBackupsKnown()),
  ]);
  const done = { origin: originKind() === "https", mail: isMailWorking, sandbox: isSandboxed, backups: isBackedUp };
  return setUpSteps.every((step) => done[step]) ? null : setUpSteps.map((step) => ({ step, isDone: done[step] }));
}

export function originKind(): "https" | "http" | "this_machine" {
  const { protocol, hostname } = new URL(env().ORIGIN);
  if (isThisMachine(hostname)) return "this_machine";
  return protocol === "https:" ? "https" : "http";
}

export function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}

async function isMailSet(): Promise<boolean> {
  if (!env().SMTP_URL) return false;
  const lately = new Date(Date.now() - 24 * 3600_000);
  return (await db().mail.findFirst({ where: { failedAt: { gt: lately } }, select: { id: true } })) === null;
}

async function areJobsSandboxed(): Promise<boolean> {
  if (env().JOBS_RUNNER === "off") return true;
  const report = await readRunnerReport();
  return report.kind === "runs" && report.runner !== "unsandboxed";
}

export async function areBackupsKnown(): Promise<boolean> {
  return (await readStored()).backupsConfirmedAt !== undefined || isLogArchived();
}

async function isLogArchived(): Promise<boolean> {
  const [row] = await db().$queryRaw<{ isArchived: boolean }[]>`
    SELECT coalesce(last_archived_time > now() - interval '1 day', FALSE) AS "isArchived" FROM pg_stat_archiver`;
  return row?.isArchived === true;
}

export const confirmBackups = (actor: Actor) => store(actor, { backupsConfirmedAt: new Date().toISOString() });

export const dismissSetUpSteps = (actor: Actor) => store(actor, { dismissedAt: new Date().toISOString() });

async function store(actor: Actor, change: Stored): Promise<void> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const value = { ...(await readStored()), ...change };
  await db().setting.upsert({ where: { key: KEY }, create: { key: KEY, value }, update: { value, updatedAt: new Date() } });
}

async function readStored(): Promise<Stored> {
  return ((await db().setting.findUnique({ where: { key: KEY } }))?.value ?? {}) as Stored;
}
