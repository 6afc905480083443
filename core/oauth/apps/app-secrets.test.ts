import { describe, expect, test } from "vitest";
import type { Person } from "../../access/actor.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { hashToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { auditOf, longSignedIn, someApp, someone } from "../testing/apps.ts";
import { addSecret, deleteSecret, rotateSecret, SECRET_OVERLAP_MAX_SECONDS } from "./app-secrets.ts";
import { getApp } from "./get-app.ts";

const DAY = 24 * 60 * 60;

async function acceptedAt(appId: string, moment = new Date()): Promise<string[]> {
  const rows = await db().oAuthAppSecret.findMany({ where: { appId, OR: [{ expiresAt: null }, { expiresAt: { gt: moment } }] } });
  return rows.map((row) => row.secretHash);
}

async function refusals(actor: Person, appId: string): Promise<string[]> {
  const answers = await Promise.allSettled([
    addSecret(actor, appId, noOrigin),
    rotateSecret(actor, appId, {}, noOrigin),
    deleteSecret(actor, appId, noOrigin),
  ]);
  return answers.map((answer) => (answer.status === "rejected" ? answer.reason.code : "allowed"));
}

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);

async function confidentialApp(person: Person) {
  const { app, secret = "" } = await someApp(person, { isConfidential: true });
  return { app, secret };
}

describe("S52 rotating the secret", () => {
  test("without an overlap ends the old secret at once", async () => {
    const person = await someone();
    const { app, secret: old } = await confidentialApp(person);
    const { secret } = await rotateSecret(person, app.id, {}, noOrigin);
    expect(secret).not.toBe(old);
    expect(await acceptedAt(app.id)).toEqual([hashToken(secret)]);
  });

  test("ends the old secret after the chosen overlap", async () => {
    const person = await someone();
    const { app, secret: old } = await confidentialApp(person);
    const { secret, oldSecretEndsAt } = await rotateSecret(person, app.id, { overlapSeconds: DAY }, noOrigin);
    expect(Math.abs(oldSecretEndsAt.getTime() - inSeconds(DAY).getTime())).toBeLessThan(5_000);
    expect((await acceptedAt(app.id)).sort()).toEqual([hashToken(old), hashToken(secret)].sort());
    expect(await acceptedAt(app.id, inSeconds(DAY + 5))).toEqual([hashToken(secret)]);
  });

  test("never extends the validity of an older secret", async () => {
    const person = await someone();
    const { app, secret: first } = await confidentialApp(person);
    const { secret: second } = await rotateSecret(person, app.id, { overlapSeconds: 3600 }, noOrigin);
    const { secret: third } = await rotateSecret(person, app.id, { overlapSeconds: 7 * DAY }, noOrigin);
    expect(await acceptedAt(app.id)).toHaveLength(3);
    expect((await acceptedAt(app.id, inSeconds(2 * 3600))).sort()).toEqual([hashToken(second), hashToken(third)].sort());
    const { secret: fourth } = await rotateSecret(person, app.id, {}, noOrigin);
    expect(await acceptedAt(app.id)).toEqual([hashToken(fourth)]);
    expect(await acceptedAt(app.id)).not.toContain(hashToken(first));
  });

  test.each([-1, 1.5, Number.NaN, SECRET_OVERLAP_MAX_SECONDS + 1])("refuses an overlap of %s seconds", async (overlapSeconds) => {
    const person = await someone();
    const { app, secret } = await confidentialApp(person);
    await expect(rotateSecret(person, app.id, { overlapSeconds }, noOrigin)).rejects.toMatchObject({ field: "overlapSeconds" });
    expect(await acceptedAt(app.id)).toEqual([hashToken(secret)]);
  });

  test("ten times at once leaves one secret", async () => {
    const person = await someone();
    const { app } = await confidentialApp(person);
    const rotated = await Promise.all(Array.from({ length: 10 }, () => rotateSecret(person, app.id, {}, noOrigin)));
    const accepted = await acceptedAt(app.id);
    expect(accepted).toHaveLength(1);
    expect(rotated.map(({ secret }) => hashToken(secret))).toContain(accepted[0]);
  });

  test("of a public app is refused as a conflict", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    await expect(rotateSecret(person, app.id, {}, noOrigin)).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("S52 deleting the secret", () => {
  test("makes the app a public one, which must use PKCE", async () => {
    const person = await someone();
    const { app } = await someApp(person, { isConfidential: true, isPkceRequired: false });
    await rotateSecret(person, app.id, { overlapSeconds: DAY }, noOrigin);
    await deleteSecret(person, app.id, noOrigin);
    expect(await acceptedAt(app.id)).toEqual([]);
    expect((await getApp(person, app.id)).app).toMatchObject({ isConfidential: false, isPkceRequired: true });
    await expect(deleteSecret(person, app.id, noOrigin)).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("adding a secret", () => {
  test("makes a public app confidential", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    const [first, second] = await Promise.allSettled([addSecret(person, app.id, noOrigin), addSecret(person, app.id, noOrigin)]);
    expect([first?.status, second?.status].sort()).toEqual(["fulfilled", "rejected"]);
    expect(await acceptedAt(app.id)).toHaveLength(1);
    expect((await getApp(person, app.id)).app.isConfidential).toBe(true);
  });
});

test("managers see only the end of a secret", async () => {
  const person = await someone();
  const { app, secret } = await confidentialApp(person);
  const details = await getApp(person, app.id);
  expect(details.secrets).toEqual([{ last4: secret.slice(-4), createdAt: expect.any(Date), lastUsedAt: null, expiresAt: null }]);
  expect(JSON.stringify(details)).not.toContain(hashToken(secret));
});

test("S113 every change of a secret needs a recent sign-in", async () => {
  const person = await someone();
  const stale = longSignedIn(person);
  const { app } = await confidentialApp(person);
  expect(await refusals(stale, app.id)).toEqual([
    "reauthentication_required",
    "reauthentication_required",
    "reauthentication_required",
  ]);
});

test("S136 only users who manage the app can change its secret", async () => {
  const { app, secret } = await confidentialApp(await someone());
  const stranger = await someone({ isOperator: true });
  expect(await refusals(stranger, app.id)).toEqual(["not_found", "not_found", "not_found"]);
  expect(await acceptedAt(app.id)).toEqual([hashToken(secret)]);
});

test("S116 S55 each creation, rotation and deletion of a secret writes an entry without the secret", async () => {
  const person = await someone();
  const { app } = await someApp(person);
  const { secret: first } = await addSecret(person, app.id, noOrigin);
  const { secret: second } = await rotateSecret(person, app.id, { overlapSeconds: 60 }, noOrigin);
  await deleteSecret(person, app.id, noOrigin);
  const events = await auditOf(app.clientId);
  expect(events.map(({ type }) => type).sort()).toEqual([
    "oauth_app.create",
    "oauth_app.secret_create",
    "oauth_app.secret_delete",
    "oauth_app.secret_rotate",
  ]);
  const text = JSON.stringify(events);
  expect(text).not.toContain(first);
  expect(text).not.toContain(second);
});
