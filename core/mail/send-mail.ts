import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import nodemailer from "nodemailer";
import { env } from "../env.ts";
import { log } from "../log.ts";
import type { QueuedMail } from "./mail-table.ts";

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

type Transport = { send(message: nodemailer.SendMailOptions, mail: QueuedMail): Promise<void>; close(): void };

let transport: Transport | undefined;

/** Hands an email to the server in SMTP_URL; without SMTP_URL, writes it to DATA_DIR/outbox, where an operator can open it. */
export async function sendMail(mail: QueuedMail): Promise<void> {
  const { SMTP_URL } = env();
  transport ??= SMTP_URL ? smtpTransport(SMTP_URL) : fileTransport();
  await transport.send(messageOf(mail), mail);
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
    // Passed as an object, so that a comma or a bracket in the address cannot make it two.
    to: { name: "", address: recipient },
    subject,
    text,
    date: created_at,
    // The same for every attempt: mail systems drop a second copy.
    messageId: `<${id}@${hostname}>`,
    // RFC 3834: prevents out-of-office replies.
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function smtpTransport(url: string): Transport {
  const smtp = nodemailer.createTransport({ url, pool: true, maxConnections: 4, ...TIMEOUTS });
  return {
    send: async (message) => void (await smtp.sendMail(message)),
    close: () => smtp.close(),
  };
}

function fileTransport(): Transport {
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true });
  const outbox = join(env().DATA_DIR, "outbox");
  mkdirSync(outbox, { recursive: true, mode: 0o700 });
  return {
    async send(message, { id, recipient, subject }) {
      const { message: bytes } = await composer.sendMail(message);
      const file = join(outbox, `${id}.eml`);
      writeFileSync(`${file}.unfinished`, bytes as Buffer, { mode: 0o600 });
      renameSync(`${file}.unfinished`, file);
      log().info({ to: recipient, subject, file }, "an e-mail was written to the outbox, since SMTP_URL is not set");
    },
    close: () => composer.close(),
  };
}
