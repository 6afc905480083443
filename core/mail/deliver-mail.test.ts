import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { db, pool } from "../db.ts";
import { provideSettings } from "../env.ts";
import { claimRows } from "../postgres/leased-table.ts";
import { deliverMail } from "./deliver-mail.ts";
import { listKeptMail } from "./kept-mail.ts";
import { mailTable, type QueuedMail } from "./mail-table.ts";
import { queueMail } from "./queue-mail.ts";
import { closeMailTransport } from "./send-mail.ts";

/** The server follows RFC 5321. */
async function mailServer(answerToRecipient: () => string): Promise<{ url: string; messages: string[] }> {
  const messages: string[] = [];
  const server = createServer((socket) => {
    let message: string | undefined;
    let begun = "";
    socket.write("220 test ESMTP\r\n");
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      const lines = (begun + chunk).split("\r\n");
      begun = lines.pop() ?? "";
      for (const line of lines) {
        if (message !== undefined) {
          if (line !== ".") message += `${line}\n`;
          else {
            messages.push(message);
            message = undefined;
            socket.write("250 kept\r\n");
          }
        } else if (line.startsWith("RCPT")) socket.write(`${answerToRecipient()}\r\n`);
        else if (line === "DATA") {
          message = "";
          socket.write("354 go on\r\n");
        } else if (line === "QUIT") socket.end("221 bye\r\n");
        else socket.write("250 test\r\n");
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provideSettings({ SMTP_URL: url });
  return { url, messages };
}

async function deliverDue(): Promise<void> {
  const { claimId, rows } = await claimRows<QueuedMail>(mailTable, 10);
  for (const row of rows) await deliverMail(row, claimId);
}

const message = { to: "ada@example.com", subject: "Confirm your address", text: "Open http://localhost/verify-email/a-token\n" };
const stored = () => db().mail.findFirstOrThrow();
// The column stores milliseconds, so a rounded now() could be later than the next claim.
const becomeDue = (later = "-1 second") => pool().query("update mail set due_at = now() + $1::interval", [later]);

afterEach(async () => {
  closeMailTransport();
  provideSettings({ SMTP_URL: "" });
  await db().mail.deleteMany();
});

describe("mail", () => {
  it("is kept without a mail server, and the operator's command can read it on any machine", async () => {
    await queueMail(db(), { ...message, subject: "Grüße" });
    await queueMail(db(), { ...message, to: "mara@example.com" });
    await deliverDue();
    expect(await listKeptMail(message.to)).toMatchObject([{ recipient: message.to, subject: "Grüße", text: message.text }]);
    expect((await listKeptMail()).map(({ recipient }) => recipient)).toEqual(["mara@example.com", message.to]);
    const { text, sentAt, claimId } = await stored();
    expect({ sentAt, claimId }).toEqual({ sentAt: expect.any(Date), claimId: null });
    expect(text, "S55 sealed").not.toContain("a-token");
    await deliverDue();
    expect(await db().mail.count({ where: { attempts: 1 } })).toBe(2);
  });

  it("S55 a kept message whose SECRET_KEY is gone cannot be read", async () => {
    await queueMail(db(), message);
    await deliverDue();
    provideSettings({ SECRET_KEY: "another secret key ".repeat(3) });
    expect(await listKeptMail()).toMatchObject([
      { subject: message.subject, text: expect.stringContaining("earlier SECRET_KEY") },
    ]);
  });

  it("names its sender and its subject in any language", async () => {
    const { messages } = await mailServer(() => "250 ok");
    await queueMail(db(), { ...message, subject: "Grüße" });
    await deliverDue();
    expect(messages[0]).toContain("To: ada@example.com\n");
    expect(messages[0]).toContain("From: Keyhook <no-reply@localhost>\n");
    expect(messages[0]).toContain("Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=\n");
    expect(await listKeptMail()).toEqual([]);
  });

  it("S55 keeps no text of a sent message, because it may contain a working link", async () => {
    const { messages } = await mailServer(() => "250 ok");
    await queueMail(db(), message);
    await deliverDue();
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(message.text.trim());
    expect(await stored()).toMatchObject({ text: "", attempts: 1, sentAt: expect.any(Date), failedAt: null, claimId: null });
  });

  it("S128 to one address does not delay mail to others", async () => {
    for (let each = 0; each < 5; each++) await queueMail(db(), { ...message, to: "eve@example.com" });
    await becomeDue("-1 minute");
    await queueMail(db(), message);
    const { rows } = await claimRows<QueuedMail>(mailTable, 2);
    expect(rows.map(({ recipient }) => recipient).sort()).toEqual(["ada@example.com", "eve@example.com"]);
  });

  it("is tried again later when the server is busy, under the same Message-ID", async () => {
    let answer = "451 try later";
    const { messages } = await mailServer(() => answer);
    await queueMail(db(), message);
    const { createdAt } = await stored();
    await deliverDue();
    const waiting = await stored();
    expect(waiting).toMatchObject({
      sentAt: null,
      failedAt: null,
      text: message.text,
      lastError: expect.stringContaining("451"),
    });
    expect(waiting.dueAt.getTime() - createdAt.getTime()).toBeGreaterThanOrEqual(15_000);
    await becomeDue("1 hour");
    await deliverDue();
    expect((await stored()).attempts).toBe(1);
    answer = "250 ok";
    await becomeDue();
    await deliverDue();
    expect(await stored()).toMatchObject({ sentAt: expect.any(Date), attempts: 2 });
    expect(messages[0]).toContain(`Message-ID: <${waiting.id}@localhost>`);
  });

  it("is tried again when no server answers", async () => {
    provideSettings({ SMTP_URL: "smtp://127.0.0.1:1" });
    await queueMail(db(), message);
    await deliverDue();
    expect(await stored()).toMatchObject({ sentAt: null, failedAt: null, lastError: expect.stringContaining("ECONNREFUSED") });
  });

  it("is abandoned at once when the server permanently refuses the recipient", async () => {
    await mailServer(() => "550 no such person");
    await queueMail(db(), message);
    await deliverDue();
    expect(await stored()).toMatchObject({ failedAt: expect.any(Date), text: "", lastError: expect.stringContaining("550") });
  });

  it("is abandoned after its last attempt", async () => {
    await mailServer(() => "451 try later");
    await queueMail(db(), message);
    await pool().query("update mail set attempts = 8");
    await deliverDue();
    expect(await stored()).toMatchObject({ attempts: 9, failedAt: expect.any(Date) });
    await becomeDue();
    expect((await claimRows(mailTable, 1)).rows).toEqual([]);
  });

  it("is sent to one address only, whatever that address contains", async () => {
    const { messages } = await mailServer(() => "250 ok");
    await queueMail(db(), { ...message, to: "a@example.com\r\nBcc: b@example.com", subject: "x\r\nBcc: c@example.com" });
    await deliverDue();
    expect(messages.join("").match(/^bcc:/im)).toBeNull();
  });
});
