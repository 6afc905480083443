import nodemailer from "nodemailer";
import { env } from "../env.ts";
import type { QueuedMail } from "./mail-table.ts";

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

let transport: nodemailer.Transporter | undefined;

export async function sendMail(mail: QueuedMail, server: string): Promise<void> {
  transport ??= nodemailer.createTransport({ url: server, pool: true, maxConnections: 4, ...TIMEOUTS });
  await transport.sendMail(messageOf(mail));
}

export function closeMailTransport(): void {
  transport?.close();
  transport = undefined;
}

function messageOf({ id, recipient, subject, text, created_at }: QueuedMail): nodemailer.SendMailOptions {
  const { BRAND_NAME, MAIL_FROM, ORIGIN } = env();
  const { hostname } = new URL(ORIGIN);
  return {
    from: MAIL_FROM ?? { name: BRAND_NAME, address: `no-reply@${hostname}` },
    // The recipient is an object, because a text with a comma or a bracket could become two addresses.
    to: { name: "", address: recipient },
    subject,
    text,
    date: created_at,
    // Every attempt has the same ID, so that mail systems can recognize a second copy.
    messageId: `<${id}@${hostname}>`,
    // RFC 3834: this header prevents out-of-office replies.
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
