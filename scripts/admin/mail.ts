import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { listKeptMail } from "#core/mail/kept-mail.ts";
import { sendTestEmail } from "#core/operations/mail.ts";
import { command } from "./command.ts";

export const mailList = command({
  name: "mail list",
  summary: "Shows the latest 50 e-mails that were kept, not sent, because SMTP_URL is not set.",
  notes: ["They stay for a week. They may contain links that give access to accounts."],
  options: { to: { value: "ADDRESS", help: "only those to this address" } },
  async run({ to }) {
    const emails = await listKeptMail(to);
    const texts = emails.map(({ recipient, subject, text, createdAt }) =>
      // Indented, so that no text looks like another email.
      [`To: ${recipient}`, `Subject: ${subject}`, `Date: ${createdAt.toISOString()}`, "", text.replace(/^/gm, "  ")].join("\n"),
    );
    return { json: { letters: emails }, text: texts.join(`\n${"-".repeat(20)}\n`) || "None." };
  },
});

export const mailTest = command({
  name: "mail test",
  summary: "Queues a test e-mail, which the running service sends.",
  notes: ["The operators' mail page and the log show whether it was sent."],
  options: { to: { value: "ADDRESS", help: "the recipient", isRequired: true } },
  async run(values) {
    const { id, to } = await sendTestEmail(operatorCommand, values.to, noOrigin);
    return { json: { id, to }, text: `An e-mail to ${to} is queued.` };
  },
});
