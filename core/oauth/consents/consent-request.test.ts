import { scopes } from "@keyhook/sdk";
import { afterAll, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { createApp } from "../apps/create-app.ts";
import { openQuestion } from "../testing/authorization.ts";
import { prepare } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

test("S26 the request names the app, its owner, the destination, the scopes and the duration", async () => {
  const at = await prepare(world, {
    scopes: [...scopes],
    redirectUris: ["https://lantern.example.test:8443/cb?x=1"],
    homepageUrl: "https://lantern.example.test/about",
  });
  await db().oAuthApp.update({ where: { id: at.app.id }, data: { accessTokenSeconds: 3600 } });
  const orgId = await world.organization(`o-${newId()}`, { [at.person.id]: "contributor" });
  const { request } = await openQuestion(at, {
    redirect_uri: "https://lantern.example.test:8443/cb?x=1",
    scope: [...scopes, "offline_access"].join(" "),
    orgIds: orgId,
  });
  expect(request.app).toEqual({
    clientId: at.app.clientId,
    name: "Paper Lantern",
    logoId: null,
    owner: { handle: at.person.username, name: at.person.username },
    homepageUrl: "https://lantern.example.test/about",
    homepageHost: "lantern.example.test",
    termsUrl: null,
    policyUrl: null,
    isVerified: false,
    isFirstParty: false,
    isSelfRegistered: false,
    documentHost: null,
  });
  expect(request).toMatchObject({
    redirectTarget: "lantern.example.test:8443",
    isOnDevice: false,
    accessTokenSeconds: 3600,
    isOffline: true,
    isChanged: false,
    alreadyGranted: [],
  });
  expect(request.scopes.map(({ scope }) => scope).toSorted()).toEqual([...scopes].toSorted());
  for (const { sentence } of request.scopes) expect(sentence).toMatch(/^[A-Z].+[^.]$/);
  expect(request.scopes.filter(({ isRequired }) => isRequired).map(({ scope }) => scope)).toEqual(["openid", "profile"]);
  expect(request.organizations).toMatchObject([{ id: orgId, role: "contributor", isAskedFor: true, isTicked: true }]);
});

test("S26 an organization's app is shown with this organization as its owner", async () => {
  const at = await prepare(world);
  const orgId = await world.organization("lantern-works", { [at.person.id]: "admin" });
  const made = await createApp(
    operatorCommand,
    { name: "Works", scopes: ["openid"], redirectUris: ["https://app.example.test/callback"], owner: { orgId } },
    noOrigin,
  );
  const app = { id: made.app.id, clientId: made.app.clientId, secret: undefined };
  const { request } = await openQuestion({ ...at, app }, { scope: "openid" });
  expect(request.app.owner).toEqual({ handle: "lantern-works", name: "lantern-works" });
});

test.each(["com.example.lantern:/cb", "com.example.lantern://my-bank.example/cb"])(
  "S26 a private-use scheme is shown whole, and nothing in it as a host: %s",
  async (redirect_uri) => {
    const at = await prepare(world, { redirectUris: [redirect_uri] });
    const { request } = await openQuestion(at, { redirect_uri });
    expect(request).toMatchObject({ redirectTarget: "com.example.lantern", isOnDevice: true });
  },
);

test.each([
  ["http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", "127.0.0.1:49152"],
  ["http://[::1]/cb", "http://[::1]:49152/cb", "[::1]:49152"],
  ["https://localhost:8443/cb", "https://localhost:8443/cb", "localhost:8443"],
  ["https://app.localhost/cb", "https://app.localhost/cb", "app.localhost"],
])("S27 an answer that stays on the device carries a warning: %s", async (registered, redirect_uri, redirectTarget) => {
  const at = await prepare(world, { redirectUris: [registered, "https://app.example.test/callback"] });
  expect((await openQuestion(at, { redirect_uri })).request).toMatchObject({ isOnDevice: true, redirectTarget });
  expect((await openQuestion(at)).request).toMatchObject({ isOnDevice: false });
});

test("S28 a shown name is cleaned and shortened", async () => {
  const { person } = await prepare(world);
  const named = (name: string) =>
    createApp(
      operatorCommand,
      { name, scopes: ["openid"], redirectUris: [], isDeviceFlowAllowed: true, owner: { userId: person.id } },
      noOrigin,
    );
  expect((await named("Pa\u202eper \u0000\u0007Lan\u2066tern\u200b").catch((error) => error.code)) ?? "").toBe("invalid_request");
  expect((await named("Pa\u202eper \u0007Lan\u2066tern\u200b")).app.name).toBe("Paper Lantern");
  await expect(named("x".repeat(61))).rejects.toMatchObject({ field: "name" });
  for (const name of ["Keyhook", "KEYH00K", "Кeyhook Login", "K e y h o o k", "keyhook®"]) {
    await expect(named(name)).rejects.toMatchObject({ code: "invalid_request", field: "name" });
  }
});

test("S28 markup in a name is shown as text", async () => {
  const at = await prepare(world, { name: '<b>Lantern</b> & "co"' });
  expect((await openQuestion(at)).request.app.name).toBe('<b>Lantern</b> & "co"');
});

test("S22 S31 only the user's organizations are shown", async () => {
  const at = await prepare(world);
  const stranger = await world.user(`x-${newId()}`);
  const theirs = await world.organization(`o-${newId()}`, { [stranger.id]: "admin" });
  const mine = await world.organization(`o-${newId()}`, { [at.person.id]: "read", [stranger.id]: "read" });
  const { request } = await openQuestion(at, { orgIds: [theirs, mine, newId()].join(",") });
  expect(request.organizations.map(({ id }) => id)).toEqual([mine]);
  expect(JSON.stringify(request)).not.toContain(theirs);
});

test("an app that is blocked during its consent gets nothing", async () => {
  const at = await prepare(world);
  const question = await openQuestion(at);
  await db().oAuthApp.update({ where: { id: at.app.id }, data: { blockedAt: new Date() } });
  await db().$executeRaw`SELECT pg_notify('oauth_app', ${at.app.clientId})`;
  await expect.poll(() => question.allow().catch((error) => error.code)).toBe("gone");
});
