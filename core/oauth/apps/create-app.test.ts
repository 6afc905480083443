import { scopes } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { hashToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { isId, newId } from "../../ids.ts";
import { auditOf, organizationWith, settings, someApp, someone } from "../testing/apps.ts";
import { createApp, OWNER_MAX_APPS } from "./create-app.ts";

describe("creating an app", () => {
  test("creates a public app with PKCE and without a secret", async () => {
    const person = await someone();
    const { app, secret } = await someApp(person, { scopes: ["email", "openid", "openid"] });
    expect(secret).toBeUndefined();
    expect(app).toMatchObject({
      name: "Paper Lantern",
      ownerUserId: person.userId,
      ownerOrgId: null,
      isConfidential: false,
      isPkceRequired: true,
      isRefreshAllowed: false,
      isDeviceFlowAllowed: false,
      scopes: ["openid", "email"],
      redirectUris: ["https://app.example.com/cb"],
      postLogoutRedirectUris: [],
    });
    expect(await db().oAuthAppSecret.count({ where: { appId: app.id } })).toBe(0);
  });

  test("gives a confidential app a secret, of which only the hash is stored (S55)", async () => {
    const { app, secret = "" } = await someApp(await someone(), { isConfidential: true });
    expect(secret).toMatch(/^kh_secret_[A-Za-z0-9_-]{43}$/);
    const [row, ...others] = await db().oAuthAppSecret.findMany({ where: { appId: app.id } });
    expect(others).toEqual([]);
    expect(row).toMatchObject({ secretHash: hashToken(secret), last4: secret.slice(-4), expiresAt: null });
    const everything = JSON.stringify([await db().oAuthApp.findMany(), await db().auditEvent.findMany(), row]);
    expect(everything).not.toContain(secret);
  });

  test("S101 S85 gives the app a client ID that is neither a user's ID nor a URL", async () => {
    const { app } = await someApp(await someone());
    expect(app.clientId).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(app.clientId).not.toMatch(/^https:/);
    expect(isId(app.clientId)).toBe(false);
  });

  test("S116 writes an entry for the user and the organization", async () => {
    const person = await someone();
    const orgId = await organizationWith({ [person.userId]: "admin" });
    const from = { ip: "192.0.2.1", userAgent: "test" };
    const { app } = await createApp(person, settings({ owner: { orgId } }), from);
    expect(await auditOf(app.clientId)).toMatchObject([
      {
        type: "oauth_app.create",
        actorId: person.userId,
        orgId,
        data: { name: "Paper Lantern", isConfidential: false },
        ip: "192.0.2.1",
      },
    ]);
  });
});

describe("S28 the name", () => {
  test("loses control characters and characters that change the reading direction", async () => {
    const { app } = await someApp(await someone(), { name: "  Paper\u202e\u0007 \n Lantern\u2066 " });
    expect(app.name).toBe("Paper Lantern");
  });

  test.each(["", "   ", "\u202e", "\u3164", "\u2800", "x".repeat(61), "Keyhook", "Кеуhооk Login", "a\0b", "\ud800"])(
    "cannot be %j",
    async (name) => {
      await expect(someApp(await someone(), { name })).rejects.toMatchObject({ code: "invalid_request", field: "name" });
    },
  );

  test("may have 60 characters, and an emoji counts as one", async () => {
    const { app } = await someApp(await someone(), { name: "🪁".repeat(60) });
    expect([...app.name]).toHaveLength(60);
  });
});

describe("creating an app is refused, and the error names the field, with", () => {
  test.each([
    [{ redirectUris: ["http://app.example.com/cb"] }, "redirectUris"],
    [{ redirectUris: ["javascript:alert(1)"] }, "redirectUris"],
    [{ redirectUris: ["http://localhost:3000/login"] }, "redirectUris"],
    [{ redirectUris: [] }, "redirectUris"],
    [{ redirectUris: Array.from({ length: 51 }, (_, at) => `https://a.example/${at}`) }, "redirectUris"],
    [{ postLogoutRedirectUris: ["http://app.example.com/"] }, "postLogoutRedirectUris"],
    [{ scopes: ["openid", "root"] }, "scopes"],
    [{ scopes: ["toString"] }, "scopes"],
    [{ scopes: [] }, "scopes"],
    [{ homepageUrl: "javascript:alert(1)" }, "homepageUrl"],
    [{ description: "x".repeat(301) }, "description"],
    [{ logo: Buffer.from("<svg onload=alert(1)>") }, "logo"],
    [{ isPkceRequired: false }, "isPkceRequired"],
  ])("%j", async (bad, field) => {
    const person = await someone();
    await expect(someApp(person, bad)).rejects.toMatchObject({ code: "invalid_request", field });
    expect(await db().oAuthApp.count({ where: { ownerUserId: person.userId } })).toBe(0);
  });
});

test("an app for devices needs no redirect URI", async () => {
  const { app } = await someApp(await someone(), { redirectUris: [], isDeviceFlowAllowed: true });
  expect(app).toMatchObject({ redirectUris: [], isDeviceFlowAllowed: true });
});

test("S8 an app with a secret may do without PKCE", async () => {
  const { app } = await someApp(await someone(), { isConfidential: true, isPkceRequired: false });
  expect(app.isPkceRequired).toBe(false);
});

test("all fifteen scopes can be configured", async () => {
  const { app } = await someApp(await someone(), { scopes });
  expect(app.scopes).toHaveLength(15);
});

describe("an app may be created", () => {
  test("for oneself only", async () => {
    const [mara, other] = [await someone(), await someone()];
    await expect(createApp(mara, settings({ owner: { userId: other.userId } }), noOrigin)).rejects.toMatchObject({
      code: "forbidden",
    });
  });

  test("for an organization by its administrators", async () => {
    const [admin, writer, outsider] = [await someone(), await someone(), await someone({ isOperator: true })];
    const orgId = await organizationWith({ [admin.userId]: "admin", [writer.userId]: "write" });
    expect((await createApp(admin, settings({ owner: { orgId } }), noOrigin)).app).toMatchObject({
      ownerOrgId: orgId,
      ownerUserId: null,
    });
    for (const actor of [writer, outsider]) {
      await expect(createApp(actor, settings({ owner: { orgId } }), noOrigin)).rejects.toMatchObject({ code: "forbidden" });
    }
  });

  test("for any existing user, by the operator's command", async () => {
    const { userId } = await someone();
    const { app } = await createApp(operatorCommand, settings({ owner: { userId } }), noOrigin);
    expect(app.ownerUserId).toBe(userId);
    expect(await auditOf(app.clientId)).toMatchObject([{ actorId: null }]);
    await expect(createApp(operatorCommand, settings({ owner: { userId: newId() } }), noOrigin)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(createApp(operatorCommand, settings({ owner: { orgId: newId() } }), noOrigin)).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("up to the limit of its owner", async () => {
    const person = await someone();
    const row = { name: "x", ownerUserId: person.userId };
    await db().oAuthApp.createMany({
      data: Array.from({ length: OWNER_MAX_APPS }, () => ({ ...row, id: newId(), clientId: newId() })),
    });
    await expect(someApp(person)).rejects.toMatchObject({ code: "conflict" });
  });

  test("at the same time as other apps, up to the limit of its owner", async () => {
    const person = await someone();
    const row = { name: "x", ownerUserId: person.userId };
    await db().oAuthApp.createMany({
      data: Array.from({ length: OWNER_MAX_APPS - 1 }, () => ({ ...row, id: newId(), clientId: newId() })),
    });
    const ends = await Promise.allSettled(Array.from({ length: 8 }, () => someApp(person)));
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await db().oAuthApp.count({ where: { ownerUserId: person.userId } })).toBe(OWNER_MAX_APPS);
  });
});
