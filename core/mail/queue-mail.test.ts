import { expect, test } from "vitest";
import { db } from "../db.ts";
import { queueMail } from "./queue-mail.ts";

test("a message is due at once, and is rolled back with its transaction", async () => {
  await queueMail(db(), { to: "ada@example.test", subject: "Hello", text: "One\nTwo\n" });
  expect(await db().mail.findFirstOrThrow()).toMatchObject({
    recipient: "ada@example.test",
    text: "One\nTwo\n",
    attempts: 0,
    sentAt: null,
  });
  const failing = db().$transaction(async (tx) => {
    await queueMail(tx, { to: "eve@example.test", subject: "Hello", text: "" });
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await db().mail.count()).toBe(1);
});

test("a line break cannot add a header", async () => {
  await queueMail(db(), { to: "bob@example.test\r\nBcc: eve@example.test", subject: "Hi\nX: y", text: "" });
  const mail = await db().mail.findFirstOrThrow({ where: { subject: "Hi X: y" } });
  expect(mail.recipient).toBe("bob@example.test Bcc: eve@example.test");
});
