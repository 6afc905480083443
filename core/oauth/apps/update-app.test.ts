import pg from "pg";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { fillAuditHour } from "../../accounts/testing/people.ts";
import { throttleCount, throttleKey } from "../../accounts/throttle.ts";
import { DATA_MAX_BYTES } from "../../audit/bounded-json.ts";
import { ENTRIES_PER_HOUR } from "../../audit/hourly-allowance.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { db, pool } from "../../db.ts";
import { databaseUrl } from "../../env.ts";
import { newId } from "../../ids.ts";
import { auditOf, longSignedIn, organizationWith, someApp, someone } from "../testing/apps.ts";
import { clientKeyPair } from "../testing/assertion.ts";
import { setKeys } from "./app-keys.ts";
import { getApp } from "./get-app.ts";
import { updateApp } from "./update-app.ts";

describe("changing an app", () => {
  test("changes only the given settings", async () => {
    const person = await someone();
    const { app } = await someApp(person, { homepageUrl: "https://app.example.com" });
    const updated = await updateApp(person, app.id, { name: "Kite", isRefreshAllowed: true }, noOrigin);
    expect(updated).toMatchObject({
      name: "Kite",
      isRefreshAllowed: true,
      homepageUrl: "https://app.example.com/",
      scopes: app.scopes,
    });
    expect(updated.updatedAt.getTime()).toBeGreaterThan(app.updatedAt.getTime());
  });

  test("S116 writes an entry with the old and the new value", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    await updateApp(person, app.id, { name: "Kite", redirectUris: ["https://new.example/cb"], scopes: app.scopes }, noOrigin);
    // Both entries have the same time, so their order is not defined.
    const entries = (await auditOf(app.clientId)).slice(1).toSorted((one, other) => (one.type < other.type ? -1 : 1));
    expect(entries.map(({ type, data }) => ({ type, data }))).toEqual([
      {
        type: "oauth_app.redirect_change",
        data: { redirectUris: { added: ["https://new.example/cb"], removed: ["https://app.example.com/cb"] } },
      },
      { type: "oauth_app.update", data: { name: { before: "Paper Lantern", after: "Kite" } } },
    ]);
  });

  test("S144 writes a limited amount into the audit log, even with long URLs", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    const addresses = (round: number) =>
      Array.from({ length: 50 }, (_, at) => `https://app.example.com/${round}/${at}/${"x".repeat(1_900)}`);
    const change = (round: number) =>
      updateApp(person, app.id, { redirectUris: addresses(round), postLogoutRedirectUris: addresses(round) }, noOrigin);
    await change(1);
    const [, entry] = await auditOf(app.clientId);
    expect(JSON.stringify(entry?.data).length).toBeLessThanOrEqual(DATA_MAX_BYTES);
    expect(entry?.data).toMatchObject({
      redirectUris: { added: { length: 50 }, removed: ["https://app.example.com/cb"] },
      cutFromBytes: expect.any(Number),
    });

    await pool().query(
      `INSERT INTO audit_event (id, type, actor_id, created_at)
       SELECT gen_random_uuid(), 'oauth_app.update', $1, now() - interval '10 minutes' FROM generate_series(4, $2)`,
      [person.userId, ENTRIES_PER_HOUR],
    );
    await change(2);
    await expect(change(3)).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: expect.any(Number) });
    expect((await getApp(person, app.id)).app.redirectUris).toEqual(addresses(2));
  });

  test("S137 is limited to 16 MiB of new settings in 24 hours, but settings can still be removed", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    const addresses = (round: number) =>
      Array.from({ length: 50 }, (_, at) => `https://app.example.com/${round}/${at}/${"x".repeat(1_900)}`);
    await updateApp(person, app.id, { redirectUris: addresses(1) }, noOrigin);
    const key = throttleKey("app-settings", person.userId);
    expect(await throttleCount(key)).toBeGreaterThan(95_000);
    await pool().query("UPDATE throttle SET count = 16 * 1024 * 1024 WHERE key = $1", [key]);
    await expect(updateApp(person, app.id, { redirectUris: addresses(2) }, noOrigin)).rejects.toMatchObject({
      code: "rate_limited",
    });
    await expect(someApp(person)).rejects.toMatchObject({ code: "rate_limited" });
    const { jwk } = await clientKeyPair();
    const keys = { jwks: JSON.stringify({ keys: [jwk] }), jwksUri: "" };
    await expect(setKeys(person, app.id, keys, noOrigin)).rejects.toMatchObject({ code: "rate_limited" });
    const few = addresses(1).slice(0, 2);
    expect((await updateApp(person, app.id, { redirectUris: few }, noOrigin)).redirectUris).toEqual(few);
  });

  test("S144 can still remove a redirect URI above the hourly limit", async () => {
    const person = await someone();
    const redirectUris = ["https://app.example.com/cb", "https://thief.example/cb"];
    const { app } = await someApp(person, { redirectUris });
    await fillAuditHour(person.userId);
    const set = (uris: string[]) => updateApp(person, app.id, { redirectUris: uris }, noOrigin);
    await expect(set(["https://app.example.com/cb", "https://other.example/cb"])).rejects.toMatchObject({ code: "rate_limited" });
    await expect(set(redirectUris.toReversed())).rejects.toMatchObject({ code: "rate_limited" });
    expect((await set(["https://app.example.com/cb"])).redirectUris).toEqual(["https://app.example.com/cb"]);
  });

  test("to the same values writes no entry", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    await updateApp(longSignedIn(person), app.id, { name: app.name, redirectUris: app.redirectUris }, noOrigin);
    expect(await auditOf(app.clientId)).toHaveLength(1);
  });

  test("S113 needs a recent sign-in for redirect URIs, the device flow and the security profile", async () => {
    const person = await someone();
    const stale = longSignedIn(person);
    const { app } = await someApp(person);
    for (const change of [
      { redirectUris: ["https://evil.example/"] },
      { postLogoutRedirectUris: ["https://evil.example/"] },
      { isDeviceFlowAllowed: true },
    ]) {
      await expect(updateApp(stale, app.id, { name: "Kite", ...change }, noOrigin)).rejects.toMatchObject({
        code: "reauthentication_required",
      });
    }
    expect((await getApp(person, app.id)).app).toMatchObject({ name: "Paper Lantern", redirectUris: app.redirectUris });
    await expect(updateApp(stale, app.id, { name: "Kite" }, noOrigin)).resolves.toMatchObject({ name: "Kite" });
    const { app: held } = await someApp(person);
    await db().oAuthApp.update({ where: { id: held.id }, data: { securityProfile: "fapi2" } });
    await expect(updateApp(stale, held.id, { securityProfile: "standard" }, noOrigin)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
  });

  test("S8 cannot turn off PKCE for an app without a secret", async () => {
    const person = await someone();
    const { app: open } = await someApp(person);
    await expect(updateApp(person, open.id, { isPkceRequired: false }, noOrigin)).rejects.toMatchObject({
      field: "isPkceRequired",
    });
    const { app: confidential } = await someApp(person, { isConfidential: true });
    await expect(updateApp(person, confidential.id, { isPkceRequired: false }, noOrigin)).resolves.toMatchObject({
      isPkceRequired: false,
    });
  });

  test("cannot remove every way to sign in", async () => {
    const person = await someone();
    const { app } = await someApp(person, { isDeviceFlowAllowed: true });
    await updateApp(person, app.id, { redirectUris: [] }, noOrigin);
    await expect(updateApp(person, app.id, { isDeviceFlowAllowed: false }, noOrigin)).rejects.toMatchObject({
      field: "redirectUris",
    });
  });

  test("notifies every process of the changed client", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    const client = new pg.Client({ connectionString: databaseUrl() });
    await client.connect();
    const heard: (string | undefined)[] = [];
    client.on("notification", ({ channel, payload }) => heard.push(`${channel} ${payload}`));
    await client.query("LISTEN oauth_app");
    await updateApp(person, app.id, { name: "Kite" }, noOrigin);
    await updateApp(person, app.id, { name: "" }, noOrigin).catch(() => undefined);
    await expect.poll(() => heard).toEqual([`oauth_app ${app.clientId}`]);
    await client.end();
  });
});

test("S24 re-encodes a logo, and deletes the previous one", async () => {
  const person = await someone();
  const picture = (background: string) =>
    sharp({ create: { width: 8, height: 8, channels: 3, background } })
      .png()
      .toBuffer();
  const { app } = await someApp(person, { logo: await picture("red") });
  const first = app.logoId ?? "";
  expect(await db().image.findUniqueOrThrow({ where: { id: first } })).toMatchObject({ contentType: "image/webp" });

  const { logoId: second } = await updateApp(person, app.id, { logo: await picture("blue") }, noOrigin);
  expect(second).not.toBe(first);
  expect(await db().image.count({ where: { id: { in: [first, second ?? ""] } } })).toBe(1);
  await expect(updateApp(person, app.id, { logo: Buffer.from("no picture") }, noOrigin)).rejects.toMatchObject({ field: "logo" });

  expect((await updateApp(person, app.id, { logo: null }, noOrigin)).logoId).toBeNull();
  expect(await db().image.count({ where: { id: second ?? "" } })).toBe(0);
  expect((await auditOf(app.clientId)).slice(1).map(({ data }) => data)).toEqual([{ logo: "changed" }, { logo: "changed" }]);
});

describe("S136 another owner's app gets the same response as one that does not exist", () => {
  test("for a stranger, a member without the role, and an operator", async () => {
    const [admin, writer, stranger] = [await someone(), await someone(), await someone({ isOperator: true })];
    const orgId = await organizationWith({ [admin.userId]: "admin", [writer.userId]: "write" });
    const { app } = await someApp(admin, { owner: { orgId } });
    for (const actor of [writer, stranger]) {
      const answers = await Promise.all(
        [app.id, newId(), "not-an-id", "a\0b"].map((id) =>
          updateApp(actor, id, { name: "Mine" }, noOrigin).catch((error) => [error.code, error.message]),
        ),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(new Set(['["not_found","OAuth app not found"]']));
    }
    expect(await db().oAuthApp.findUnique({ where: { id: app.id } })).toMatchObject({ name: "Paper Lantern" });
  });
});
