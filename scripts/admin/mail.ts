import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { sendTestLetter } from "#core/operations/mail.ts";
import { command } from "./command.ts";

export const mailTest = command({
  name: "mail test",
  summary: "Queues a test e-mail, which the running service sends.",
  notes: ["The operators' mail page and the log show whether it was sent."],
  options: { to: { value: "ADDRESS", help: "the recipient", isRequired: true } },
  async run(values) {
    const { id, to } = await sendTestLetter(operatorCommand, values.to, noOrigin);
    return { json: { id, to }, text: `An e-mail to ${to} is queued.` };
  },
});
