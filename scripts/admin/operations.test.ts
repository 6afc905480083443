import { expect, test } from "vitest";
import { signedInPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { sealMail } from "#core/mail/kept-mail.ts";
import { adminLine as admin } from "./testing/admin-line.ts";

test("an inference provider is added, listed and removed, and its key is stored encrypted and never printed", async () => {
  const key = "sk-a-key-of-the-operators-9876";
  const models = ["--model", "tide/small=upstream/tide", "--model", "plain"];
  const added = await admin(
    "inference-provider",
    "add",
    "--name",
    "Next door",
    "--url",
    "https://models.example/v1/",
    "--key",
    key,
    ...models,
  );
  expect(added.json).toMatchObject({ name: "Next door", models: ["tide/small", "plain"] });
  const listed = await admin("inference-provider", "list");
  expect(listed.json.providers).toMatchObject([
    {
      url: "https://models.example/v1",
      has_key: true,
      key_last4: "9876",
      own_network: false,
      models: [{ name: "plain" }, { name: "tide/small", upstream_name: "upstream/tide" }],
    },
  ]);
  expect(JSON.stringify([added, listed])).not.toContain(key);
  const stored = await db().inferenceProvider.findFirstOrThrow();
  expect(Buffer.from(stored.sealedApiKey ?? []).toString("latin1")).not.toContain("sk-a-key");
  expect(JSON.stringify(await db().auditEvent.findMany({ where: { type: { startsWith: "inference" } } }))).not.toContain(key);

  const bad: [string[], RegExp][] = [
    [["--name", "next DOOR", "--url", "https://other.example"], /with this name/],
    [["--name", "b", "--url", "http://other.example"], /own network/],
    [["--name", "b", "--url", "https://user:pw@other.example"], /\/v1/],
    [["--name", "b", "--url", "file:///etc/passwd"], /\/v1/],
    [["--name", "b", "--url", "https://other.example", "--key", "a\nb"], /but no spaces/],
    [["--name", "b", "--url", "https://other.example", "--model", "plain"], /plain already/],
    [["--name", "b", "--url", "https://other.example", "--model", "x", "--model", "x"], /x already/],
    [["--name", "b", "--url", "https://other.example", "--model", "a b"], /but no spaces/],
  ];
  for (const [args, message] of bad) {
    const failed = await admin("inference-provider", "add", ...args);
    expect([failed.exitCode === undefined, failed.text]).toEqual([false, expect.stringMatching(message)]);
  }
  expect(await db().inferenceProvider.count()).toBe(1);
  expect((await admin("inference-provider", "remove", "--name", "NEXT door")).json).toEqual({ removed: "Next door" });
  expect(await db().inferenceModel.count()).toBe(0);
  expect((await admin("inference-provider", "remove", "--name", "Next%")).exitCode).toBe(1);
});

test("users are listed, disabled and enabled, and a test email is queued", async () => {
  const ada = await signedInPerson("ada");
  await signedInPerson("bea", { isOperator: true });
  const found = await admin("user", "list", "--search", ada.username.slice(0, -2).toUpperCase());
  expect(found.json).toMatchObject({ total: 1, users: [{ username: ada.username, operator: false, disabled_at: null }] });
  expect((await admin("user", "list", "--search", "%")).json.total).toBe(0);
  expect((await admin("user", "list", "--state", "operator")).json.total).toBe(1);
  await admin("user", "disable", "--user", ada.username);
  expect((await admin("user", "list", "--state", "disabled")).text).toBe(`${ada.username}\t${ada.email}\tdisabled`);
  await admin("user", "enable", "--user", ada.username);
  expect((await admin("user", "list", "--state", "disabled")).text).toBe("None.");

  expect((await admin("mail", "test", "--to", "Someone@EXAMPLE.test")).json).toMatchObject({ to: "Someone@example.test" });
  expect(await db().mail.findFirstOrThrow({ where: { recipient: "Someone@example.test" } })).toMatchObject({ attempts: 0 });
  expect((await admin("mail", "test", "--to", "a\r\nb@example.test")).exitCode).toBe(2);
  await db().mail.updateMany({ data: { sentAt: new Date(), text: sealMail(`Hello\n${"-".repeat(20)}\nTo: bea@example.test`) } });
  expect((await admin("mail", "list")).text).not.toMatch(/^(To: bea|---)/m);
});
