import { afterEach, expect, test } from "vitest";
import { operatorCommand } from "../access/actor.ts";
import { anotherSession, from, organizationOf, signedInPerson } from "../accounts/testing/people.ts";
import { createPersonalAccessToken } from "../accounts/tokens/personal-access-tokens.ts";
import { db } from "../db.ts";
import { provideSettings } from "../env.ts";
import { newId } from "../ids.ts";
import { RUNNER_REPORT_KEY } from "../jobs/runners/runner-report.ts";
import { dismissFirstSteps, readFirstSteps } from "./first-steps.ts";
import { recordLastBackup } from "./last-backup.ts";
import { needsAttention } from "./needs-attention.ts";
import { readOverview } from "./read-overview.ts";
import { confirmBackups, dismissSetUpSteps, readSetUpSteps } from "./set-up-steps.ts";

const done = (steps: { step: string; isDone: boolean }[] | null) => steps?.filter(({ isDone }) => isDone).map(({ step }) => step);

test("a user's list of first steps disappears after the last step", async () => {
  const [ada, grace] = [await signedInPerson(), await signedInPerson("grace")];
  const organization = await organizationOf(ada, [[grace, "read"]]);
  expect(done(await readFirstSteps(ada.actor))).toEqual([]);
  const repo = { id: newId(), type: "model", name: "tides", nameCanonical: "tides", createdById: ada.id };
  await db().repo.create({ data: { ...repo, ownerId: organization.id, ownerKind: "organization" } });
  expect(done(await readFirstSteps(ada.actor))).toEqual(["repository"]);
  await createPersonalAccessToken(ada.actor, ada.id, { name: "Laptop", scopes: ["read-repos"], expiresInDays: 1 }, from);
  await db().webhook.create({ data: { id: newId(), ownerId: ada.id, ownerKind: "user", domains: ["repo"] } });
  await db().totp.create({ data: { userId: ada.id, sealedSecret: Buffer.from("x") } });
  // An authenticator app counts once the user has entered a first code.
  expect(done(await readFirstSteps(ada.actor))).toEqual(["repository", "token", "webhook"]);
  await db().totp.update({ where: { userId: ada.id }, data: { confirmedAt: new Date() } });
  expect(await readFirstSteps(ada.actor)).toBeNull();
  expect(done(await readFirstSteps(grace.actor))).toEqual([]);
});

test("a dismissed list stays dismissed in every session of its user, but not for other users", async () => {
  const [ada, grace] = [await signedInPerson(), await signedInPerson("grace")];
  await dismissFirstSteps(ada.actor);
  expect(await readFirstSteps((await anotherSession(ada.id)).actor)).toBeNull();
  expect(await readFirstSteps(grace.actor)).toHaveLength(4);
});

const settings = { ORIGIN: "", SMTP_URL: "", JOBS_RUNNER: "" };
afterEach(async () => {
  provideSettings(settings);
  await db().setting.deleteMany({ where: { key: { in: ["set_up", "last_backup", RUNNER_REPORT_KEY] } } });
  await db().mail.deleteMany({});
});

const report = (value: object) =>
  db().setting.upsert({
    where: { key: RUNNER_REPORT_KEY },
    create: { key: RUNNER_REPORT_KEY, value },
    update: { value, updatedAt: new Date() },
  });

test("the operator's steps follow the settings and the workers' report", async () => {
  provideSettings({ ...settings, ORIGIN: "http://localhost:3000", JOBS_RUNNER: "unsandboxed" });
  await report({ runner: "unsandboxed" });
  expect(done(await readSetUpSteps(operatorCommand))).toEqual([]);
  await report({ runner: "bubblewrap" });
  provideSettings({ ...settings, ORIGIN: "https://hub.example.com" });
  expect(done(await readSetUpSteps(operatorCommand))).toEqual(["origin", "sandbox"]);
  provideSettings({ ...settings, ORIGIN: "https://hub.example.com", SMTP_URL: "smtp://mail.example.com" });
  await db().mail.create({ data: { id: newId(), recipient: "a@example.test", subject: "x", text: "x\n", failedAt: new Date() } });
  expect(done(await readSetUpSteps(operatorCommand))).toEqual(["origin", "sandbox"]);
  await db().mail.deleteMany({});
  expect(done(await readSetUpSteps(operatorCommand))).toEqual(["origin", "mail", "sandbox"]);
  const backup = { place: "/mnt/backup", addedBytes: 1, seconds: 1 };
  await recordLastBackup({ finishedAt: new Date(), ...backup });
  expect(await readSetUpSteps(operatorCommand)).toBeNull();
  await db().setting.deleteMany({ where: { key: "last_backup" } });
  await confirmBackups(operatorCommand);
  expect(await readSetUpSteps(operatorCommand)).toBeNull();
});

test("the overview tells operators that the last backup is days old", async () => {
  const texts = async () => needsAttention(await readOverview(operatorCommand)).map(({ text }) => text);
  const late = expect.stringMatching(/last backup was completed on/);
  const backup = { place: "/mnt/backup", addedBytes: 1, seconds: 1 };
  await recordLastBackup({ finishedAt: new Date(), ...backup });
  expect(await texts()).not.toContainEqual(late);
  await recordLastBackup({ finishedAt: new Date(Date.now() - 4 * 86_400_000), ...backup });
  expect(await texts()).toContainEqual(late);
});

test("the overview names the repositories that the last backup could not read", async () => {
  const texts = async () => needsAttention(await readOverview(operatorCommand)).map(({ text }) => text);
  const backup = { finishedAt: new Date(), place: "/mnt/backup", addedBytes: 1, seconds: 1 };
  const lacks = expect.stringMatching(/last backup lacks/);
  await recordLastBackup(backup);
  expect(await texts()).not.toContainEqual(lacks);
  await recordLastBackup({ ...backup, unread: ["a1", "b2"] });
  expect(await texts()).toContainEqual(expect.stringMatching(/^The last backup lacks .* 2 repositories, .*: a1, b2\. /));
  await recordLastBackup({ ...backup, unread: [] });
  expect(await texts()).not.toContainEqual(lacks);
});

test("an operator dismisses the steps for all operators", async () => {
  const [ada, opal] = [await signedInPerson(), await signedInPerson("opal", { isOperator: true })];
  for (const act of [readSetUpSteps, confirmBackups, dismissSetUpSteps])
    await expect(act(ada.actor)).rejects.toMatchObject({ code: "forbidden" });
  expect(await readSetUpSteps(opal.actor)).toHaveLength(4);
  await dismissSetUpSteps(opal.actor);
  expect(await readSetUpSteps(operatorCommand)).toBeNull();
});
