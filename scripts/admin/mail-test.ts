import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { sendTestLetter } from "#core/operations/mail/send-test-letter.ts";
import { command } from "./command.ts";

export const mailTest = command({
  name: "mail test",
  summary: "Queues a test letter, which the running service sends.",
  notes: ["Whether it went out stands on the operators' page of mail, and in the log."],
  options: { to: { value: "ADDRESS", help: "whom it goes to", isRequired: true } },
  async run(values) {
    const { id, to } = await sendTestLetter(operatorCommand, values.to, noOrigin);
    return { json: { id, to }, text: `A letter to ${to} is queued.` };
  },
});
