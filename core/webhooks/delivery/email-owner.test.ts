import { expect, test } from "vitest";
import { emailsTo, organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { EMAILS_TO_OWNER, emailOwner, webhookRecoveredEmail } from "./email-owner.ts";

test("S126 a webhook that is disabled and enabled again and again fills neither mailboxes nor the mail queue", async () => {
  const [ada, grace] = [await signedInPerson("ada"), await signedInPerson("grace")];
  const { id } = await organizationOf(ada, [[grace, "admin"]]);
  const email = (owner: Parameters<typeof emailOwner>[1]) =>
    emailOwner(db(), owner, (recipientName, settings) =>
      webhookRecoveredEmail({ webhookId: "1", target: "hooks.example" }, recipientName, settings),
    );
  for (let nth = 0; nth < EMAILS_TO_OWNER.limit + 5; nth++) await email({ kind: "organization", id });
  expect(await emailsTo(grace.email)).toHaveLength(EMAILS_TO_OWNER.limit);
  await email({ kind: "user", id: ada.id });
  expect(await emailsTo(ada.email)).toHaveLength(EMAILS_TO_OWNER.limit + 1);
});
