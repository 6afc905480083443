import nodemailer from "nodemailer";
import { db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { type Finding, findings, reason } from "./finding.ts";

const mail = findings("mail");
const queue = findings("mail queue");
const TIMEOUT_MS = 5_000;
const LATE_MINUTES = 15;

export async function checkMail(): Promise<Finding[]> {
  const { SMTP_URL } = env();
  if (SMTP_URL) return [await checkServer(SMTP_URL)];
  const kept = "SMTP_URL is not set: e-mails are kept for a week, for `admin mail list`";
  return [mail.warn(kept, "Set SMTP_URL, so that users get their e-mails.")];
}

async function checkServer(url: string): Promise<Finding> {
  const transport = nodemailer.createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
  });
  const server = new URL(url).host;
  try {
    await transport.verify();
    return mail.ok(`${server} accepts this service's connection`);
  } catch (error) {
    return mail.fail(`${server}: ${reason(error)}`, "Correct SMTP_URL, or allow connections to that server.");
  } finally {
    transport.close();
  }
}

export async function checkMailQueue(): Promise<Finding[]> {
  const waiting = { sentAt: null, failedAt: null };
  const [total, late, failed] = await Promise.all([
    db().mail.count({ where: waiting }),
    db().mail.count({ where: { ...waiting, createdAt: { lt: new Date(Date.now() - LATE_MINUTES * 60_000) } } }),
    db().mail.findFirst({
      where: { failedAt: { gt: new Date(Date.now() - 86_400_000) } },
      orderBy: { failedAt: "desc" },
      select: { lastError: true },
    }),
  ]);
  if (failed) {
    const why = reason(failed.lastError ?? "no reason recorded");
    return [queue.warn(`an e-mail was abandoned within the last day (${why})`, "Check the mail server.")];
  }
  if (late > 0) {
    const advice = "Check that the worker runs and the server accepts e-mails.";
    return [queue.warn(`waiting for over ${LATE_MINUTES} minutes: ${late} of ${total}`, advice)];
  }
  return [queue.ok(total === 0 ? "empty" : `${total} waiting`)];
}
