import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noOrigin } from "../../audit/request-origin.ts";
import { provideSettings } from "../../env.ts";
import { newId } from "../../ids.ts";
import { auditOf, longSignedIn, organizationWith, someApp, someone } from "../testing/apps.ts";
import { clientKeyPair } from "../testing/assertion.ts";
import { removeKeys, setKeys } from "./app-keys.ts";
import { addSecret, rotateSecret } from "./app-secrets.ts";
import { describeKeys, getApp } from "./get-app.ts";
import { updateApp } from "./update-app.ts";

const { jwk, kid } = await clientKeyPair();
const pasted = { jwks: JSON.stringify({ keys: [jwk] }), jwksUri: "" };

let server: Server;
let answer: { status?: number; body?: string } = {};
let asked = 0;
const address = (path = "/keys") => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
beforeAll(async () => {
  server = createServer((_req, res) => {
    asked += 1;
    res.writeHead(answer.status ?? 200, { "Content-Type": "application/json" }).end(answer.body ?? pasted.jwks);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8" });
});
afterAll(() => server.close());

describe("an app's keys", () => {
  test("replace its secrets (S116)", async () => {
    const person = await someone();
    const { app, secret } = await someApp(person, { isConfidential: true });
    await rotateSecret(person, app.id, { overlapSeconds: 3600 }, noOrigin);
    const updated = await setKeys(person, app.id, pasted, noOrigin);
    expect(updated).toMatchObject({ jwks: { keys: [jwk] }, jwksUri: null, isConfidential: true });
    expect((await getApp(person, app.id)).secrets).toEqual([]);
    const event = (await auditOf(app.clientId)).at(-1);
    expect(event).toMatchObject({ type: "oauth_app.keys_set", data: { kids: [kid], jwksUri: null } });
    expect(event?.data).toMatchObject({ endedSecrets: expect.arrayContaining([secret?.slice(-4)]) });
    expect(JSON.stringify(event)).not.toContain(secret);
  });

  test("exclude a secret", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    await setKeys(person, app.id, pasted, noOrigin);
    await expect(addSecret(person, app.id, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    await expect(rotateSecret(person, app.id, {}, noOrigin)).rejects.toMatchObject({ code: "conflict" });
  });

  test("allow the app to work without PKCE until the keys are removed (S8)", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    await setKeys(person, app.id, pasted, noOrigin);
    await expect(updateApp(person, app.id, { isPkceRequired: false }, noOrigin)).resolves.toMatchObject({
      isPkceRequired: false,
    });
    await removeKeys(person, app.id, noOrigin);
    expect((await getApp(person, app.id)).app).toMatchObject({
      jwks: null,
      jwksUri: null,
      isPkceRequired: true,
      isConfidential: false,
    });
    expect((await auditOf(app.clientId)).at(-1)).toMatchObject({ type: "oauth_app.keys_delete" });
    await expect(removeKeys(person, app.id, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    await expect(addSecret(person, app.id, noOrigin)).resolves.toBeTruthy();
  });

  test("are shown by name, thumbprint and algorithm", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    expect(await describeKeys(app)).toEqual([]);
    expect(await describeKeys(await setKeys(person, app.id, pasted, noOrigin))).toEqual([
      { kid, thumbprint: kid, algorithms: ["ES256"] },
    ]);
  });

  test("are either pasted or at a URL", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    for (const input of [
      { jwks: " ", jwksUri: "" },
      { ...pasted, jwksUri: address() },
    ]) {
      await expect(setKeys(person, app.id, input, noOrigin)).rejects.toMatchObject({ code: "invalid_request", field: "jwks" });
    }
    expect((await auditOf(app.clientId)).map(({ type }) => type)).toEqual(["oauth_app.create"]);
  });

  test("S113 S136 are fetched only for somebody who manages the app and has signed in recently", async () => {
    const [admin, writer, stranger] = [await someone(), await someone(), await someone({ isOperator: true })];
    const orgId = await organizationWith({ [admin.userId]: "admin", [writer.userId]: "write" });
    const { app } = await someApp(admin, { owner: { orgId } });
    const byAddress = { jwks: "", jwksUri: address() };
    const before = asked;
    const stale = longSignedIn(admin);
    const acts = [() => setKeys(stale, app.id, byAddress, noOrigin), () => removeKeys(stale, app.id, noOrigin)];
    for (const act of acts) {
      await expect(act()).rejects.toMatchObject({ code: "reauthentication_required" });
    }
    for (const actor of [writer, stranger]) {
      for (const id of [app.id, newId(), "a\0b"]) {
        await expect(setKeys(actor, id, byAddress, noOrigin)).rejects.toMatchObject({ code: "not_found" });
        await expect(removeKeys(actor, id, noOrigin)).rejects.toMatchObject({ code: "not_found" });
      }
    }
    expect(asked).toBe(before);
  });
});

describe("the URL of a key set", () => {
  test("is fetched once when the URL is saved, and its keys are not stored", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    await setKeys(person, app.id, pasted, noOrigin);
    answer = {};
    const updated = await setKeys(person, app.id, { jwks: "", jwksUri: ` ${address()} ` }, noOrigin);
    expect(updated).toMatchObject({ jwks: null, jwksUri: address() });
    expect(await describeKeys(updated)).toEqual([]);
    expect((await auditOf(app.clientId)).at(-1)?.data).toMatchObject({ kids: [kid], jwksUri: address() });
  });

  test.each<[string, { status?: number; body?: string }, RegExp]>([
    ["404", { status: 404 }, /responded with status 404/],
    ["a redirect", { status: 302 }, /responded with status 302/],
    ["a body that is not JSON", { body: "<html>" }, /not JSON/],
    ["no keys", { body: "{}" }, /list of keys/],
    ["a private key", { body: '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}]}' }, /no longer secret/],
    ["only keys of other kinds", { body: '{"keys":[{"kty":"AKP"}]}' }, /no signing key/],
    ["a megabyte", { body: "x".repeat(1024 * 1024) }, /longer than/],
  ])("that answers with %s is refused with an error beside its field, and the secret stays", async (_what, given, message) => {
    const person = await someone();
    const { app } = await someApp(person, { isConfidential: true });
    answer = given;
    await expect(setKeys(person, app.id, { jwks: "", jwksUri: address() }, noOrigin)).rejects.toMatchObject({
      code: "invalid_request",
      field: "jwksUri",
      message: expect.stringMatching(message),
    });
    expect((await getApp(person, app.id)).secrets).toHaveLength(1);
  });

  test("S77 in a forbidden network is refused before any connection", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    const before = asked;
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    await expect(setKeys(person, app.id, { jwks: "", jwksUri: address() }, noOrigin)).rejects.toMatchObject({ field: "jwksUri" });
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8" });
    expect(asked).toBe(before);
  });
});

describe("URLs of an app's own server", () => {
  test.each([
    "http://app.example.com/x",
    "ftp://app.example.com/x",
    "javascript:alert(1)",
    "app.example.com",
    "https://",
    "https://a b/",
  ])("%s is refused", async (uri) => {
    const person = await someone();
    const { app } = await someApp(person);
    const keys = setKeys(person, app.id, { jwks: "", jwksUri: uri }, noOrigin);
    await expect(keys).rejects.toMatchObject({ field: "jwksUri", message: expect.stringContaining("https://") });
    const logout = updateApp(person, app.id, { backchannelLogoutUri: uri }, noOrigin);
    await expect(logout).rejects.toMatchObject({ field: "backchannelLogoutUri", message: expect.stringContaining("https://") });
  });

  test.each([
    ["https://app.example.com/x#y", /#/],
    ["https://me:pw@app.example.com/x", /password/],
    ["http://localhost:3000/api/whoami-v2", /of this service/],
    [`https://app.example.com/${"x".repeat(2001)}`, /2,000/],
    ["https://app.example.com/\0", /not valid text/],
  ])("%j is refused with the reason", async (uri, message) => {
    const person = await someone();
    const { app } = await someApp(person);
    await expect(updateApp(person, app.id, { backchannelLogoutUri: uri }, noOrigin)).rejects.toMatchObject({
      field: "backchannelLogoutUri",
      message: expect.stringMatching(message),
    });
  });

  test("a plain http URL on loopback is accepted if the service is on loopback", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    const local = { backchannelLogoutUri: "http://127.0.0.1:8080/logout" };
    await expect(updateApp(person, app.id, local, noOrigin)).resolves.toMatchObject(local);
    provideSettings({ ORIGIN: "https://keyhook.example.com" });
    const { app: other } = await someApp(person);
    await expect(updateApp(person, other.id, local, noOrigin)).rejects.toMatchObject({ field: "backchannelLogoutUri" });
    provideSettings({ ORIGIN: "http://localhost:3000" });
  });
});

describe("the other security settings", () => {
  test("are off by default", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    expect(app).toMatchObject({ isParRequired: false, isDpopRequired: false, backchannelLogoutUri: null });
    const changes = { isParRequired: true, isDpopRequired: true, backchannelLogoutUri: "https://app.example.com/logout" };
    await expect(updateApp(person, app.id, changes, noOrigin)).resolves.toMatchObject(changes);
    expect((await auditOf(app.clientId)).at(-1)?.data).toEqual({
      isParRequired: { before: false, after: true },
      isDpopRequired: { before: false, after: true },
      backchannelLogoutUri: { before: null, after: "https://app.example.com/logout" },
    });
    const none = await updateApp(person, app.id, { backchannelLogoutUri: "" }, noOrigin);
    expect(none.backchannelLogoutUri).toBeNull();
    const made = await someApp(person, { isParRequired: true, isDpopRequired: true });
    expect(made.app).toMatchObject({ isParRequired: true, isDpopRequired: true });
  });

  test("S113 need a recent sign-in only for a change of the logout URL", async () => {
    const person = await someone();
    const { app } = await someApp(person);
    const stale = longSignedIn(person);
    await expect(updateApp(stale, app.id, { backchannelLogoutUri: "https://evil.example/" }, noOrigin)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    await expect(updateApp(stale, app.id, { isParRequired: true }, noOrigin)).resolves.toMatchObject({ isParRequired: true });
  });
});
