import { join } from "node:path";
import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { isId } from "../../ids.ts";

export type TroubledLetter = {
  id: string;
  recipient: string;
  subject: string;
  createdAt: Date;
  attempts: number;
  lastError: string | null;
  /** When it is retried; null once it was given up. */
  dueAt: Date | null;
};

export type MailState = {
  /** How letters are sent, without the password. */
  way: { server: string; user: string | null; isSecure: boolean } | { outbox: string };
  from: string;
  waiting: number;
  /** Failed letters that wait, and those given up within 30 days; the latest first. */
  troubled: TroubledLetter[];
};

export type LetterState = { state: "waiting" | "sent" | "failed"; recipient: string; lastError: string | null };

const TROUBLED_MAX = 50;

/** How mail is sent, and which letters fail. @throws ServiceError `forbidden` */
export async function readMailState(actor: Actor): Promise<MailState> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const [waiting, open, failed] = await Promise.all([
    db().mail.count({ where: { sentAt: null, failedAt: null } }),
    db().mail.findMany({
      where: { sentAt: null, failedAt: null, lastError: { not: null } },
      orderBy: { createdAt: "desc" },
      take: TROUBLED_MAX,
    }),
    db().mail.findMany({ where: { failedAt: { not: null } }, orderBy: { failedAt: "desc" }, take: TROUBLED_MAX }),
  ]);
  const troubled = [...open, ...failed]
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    .slice(0, TROUBLED_MAX)
    .map(({ id, recipient, subject, createdAt, attempts, lastError, failedAt, dueAt }) => ({
      ...{ id, recipient, subject, createdAt, attempts, lastError },
      dueAt: failedAt ? null : dueAt,
    }));
  return { ...describeWay(), waiting, troubled };
}

function describeWay(): Pick<MailState, "way" | "from"> {
  const { SMTP_URL, MAIL_FROM, BRAND_NAME, ORIGIN, DATA_DIR } = env();
  const from = MAIL_FROM ?? `${BRAND_NAME} <no-reply@${new URL(ORIGIN).hostname}>`;
  if (!SMTP_URL) return { way: { outbox: join(DATA_DIR, "outbox") }, from };
  const { host, username, protocol } = new URL(SMTP_URL);
  return { way: { server: host, user: decodeURIComponent(username) || null, isSecure: protocol === "smtps:" }, from };
}

/** The state of one letter; undefined if it is unknown, or so old that it was deleted. */
export async function readLetterState(actor: Actor, letterId: string): Promise<LetterState | undefined> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const letter = isId(letterId) ? await db().mail.findUnique({ where: { id: letterId } }) : null;
  if (!letter) return undefined;
  const { recipient, lastError, sentAt, failedAt } = letter;
  return { state: sentAt ? "sent" : failedAt ? "failed" : "waiting", recipient, lastError };
}
