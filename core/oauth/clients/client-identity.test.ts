import { afterAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { deleteSecret } from "../apps/app-secrets.ts";
import { updateApp } from "../apps/update-app.ts";
import { addResourceServer } from "../resources/manage-resource-servers.ts";
import { ask, openQuestion, resume } from "../testing/authorization.ts";
import { type Prepared, prepare, refresh } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";
import { isRedirectUriBoundToClient } from "./client-identity.ts";
import { findClientMetadata } from "./find-client.ts";

const world = await startWorld();
afterAll(() => world.stop());

const passes = { status: 303, isQuestion: false, answer: { code: expect.any(String) } };
const asks = { status: 303, isQuestion: true };

async function agree(at: Prepared, parameters: Record<string, string> = {}): Promise<void> {
  expect(await resume(at, await (await openQuestion(at, parameters)).allow())).toMatchObject(passes);
}

describe("S29 the first consent", () => {
  test.each([
    ["public", false, REDIRECT_URI],
    ["confidential", true, REDIRECT_URI],
    ["native", false, "com.example.app:/cb"],
  ])("S29 to a %s app is never skipped", async (_, isConfidential, redirect_uri) => {
    const at = await prepare(world, { isConfidential, redirectUris: [redirect_uri] });
    expect(await ask(at, { redirect_uri })).toMatchObject(asks);
    expect((await ask(at, { redirect_uri, prompt: "none" })).answer.error).toBe("consent_required");
  });

  test("S29 of one user has no effect for another user", async () => {
    const at = await prepare(world);
    await agree(at);
    const other = await prepare(world);
    expect(await ask({ ...other, app: at.app })).toMatchObject(asks);
  });
});

describe("S29 a later request", () => {
  test.each([
    ["a confidential app", true, REDIRECT_URI],
    ["a public app with an https redirect URI", false, REDIRECT_URI],
    ["a confidential app on a loopback port", true, "http://127.0.0.1:5000/cb"],
  ])("S29 of %s passes without a question", async (_, isConfidential, redirect_uri) => {
    const at = await prepare(world, { isConfidential, redirectUris: [redirect_uri] });
    await agree(at, { redirect_uri });
    expect(await ask(at, { redirect_uri })).toMatchObject(passes);
    expect(await ask(at, { redirect_uri, prompt: "none" })).toMatchObject(passes);
  });

  test.each([
    "http://127.0.0.1:5000/cb",
    "http://localhost/cb",
    "http://[::1]/cb",
    "https://localhost:8443/cb",
    "https://127.0.0.1/cb",
    "com.example.app:/cb",
    "exampleapp://cb",
  ])("S29 of a public app whose redirect URI is on the user's device leads to a question each time: %s", async (redirect_uri) => {
    const at = await prepare(world, { redirectUris: [redirect_uri, REDIRECT_URI] });
    await agree(at, { redirect_uri });
    expect(await ask(at, { redirect_uri })).toMatchObject(asks);
    expect((await ask(at, { redirect_uri, prompt: "none" })).answer.error).toBe("consent_required");
    expect(await ask(at)).toMatchObject(passes);
    await agree(at, { redirect_uri });
  });

  test("S29 for more scopes or organizations leads to a question", async () => {
    const at = await prepare(world, { isConfidential: true });
    const mine = await world.organization(`o-${newId()}`, { [at.person.id]: "read" });
    const second = await world.organization(`p-${newId()}`, { [at.person.id]: "read" });
    await agree(at, { scope: "openid profile email", orgIds: mine });
    for (const subset of [{ scope: "openid" }, { scope: "openid email", orgIds: mine }, { scope: "openid profile email" }]) {
      expect(await ask(at, subset)).toMatchObject(passes);
    }
    for (const more of [{ scope: "openid read-repos" }, { orgIds: second }, { orgIds: `${mine},${second}` }]) {
      expect(await ask(at, more)).toMatchObject(asks);
    }
  });

  test("S29 of an app that has lost its secret leads to a question, as for a public app", async () => {
    const redirect_uri = "http://127.0.0.1/cb";
    const at = await prepare(world, { isConfidential: true, redirectUris: [redirect_uri] });
    await agree(at, { redirect_uri });
    expect(await ask(at, { redirect_uri })).toMatchObject(passes);
    await deleteSecret(operatorCommand, at.app.id, noOrigin);
    await expect.poll(async () => (await ask(at, { redirect_uri })).isQuestion).toBe(true);
  });
});

test.each([
  ["https://app.example.test/cb", true],
  ["https://localhost.example.test/cb", true],
  ["https://localhost/cb", false],
  ["https://localhost./cb", false],
  ["https://a.localhost/cb", false],
  ["https://127.8.9.1/cb", false],
  ["https://[::1]/cb", false],
  ["http://localhost/cb", false],
  ["com.example.app:/cb", false],
  ["not a URI", false],
])("S29 whether only the client itself receives a code at %s: %s", (uri, isBound) => {
  expect(isRedirectUriBoundToClient(uri)).toBe(isBound);
});

describe("S36 an app that has changed since the consent", () => {
  const isSeen = (at: Prepared, matches: (client: Record<string, unknown>) => boolean) =>
    expect.poll(async () => matches((await findClientMetadata(at.app.clientId)) as Record<string, unknown>)).toBe(true);

  async function agreed(): Promise<Prepared> {
    const at = await prepare(world, { isConfidential: true });
    await agree(at, { scope: "openid profile email" });
    expect(await ask(at)).toMatchObject(passes);
    return at;
  }

  const changes: [string, (at: Prepared) => Promise<unknown>][] = [
    [
      "its name",
      async (at) => {
        await updateApp(operatorCommand, at.app.id, { name: "Another Lantern" }, noOrigin);
        await isSeen(at, (client) => client.client_name === "Another Lantern");
      },
    ],
    [
      "its redirect URIs",
      async (at) => {
        await updateApp(operatorCommand, at.app.id, { redirectUris: [REDIRECT_URI, "https://new.example.test/cb"] }, noOrigin);
        await isSeen(at, (client) => (client.redirect_uris as string[]).length === 2);
      },
    ],
    [
      "its logo",
      async (at) => {
        await db().oAuthApp.update({ where: { id: at.app.id }, data: { logoId: newId() } });
        await db().$executeRaw`SELECT pg_notify('oauth_app', ${at.app.clientId})`;
        await isSeen(at, (client) => client.logo_uri !== undefined);
      },
    ],
  ];

  test.each(changes)("S36 leads to a question about everything, which says that the app changed %s", async (_, change) => {
    const at = await agreed();
    await change(at);
    expect((await ask(at, { prompt: "none" })).answer.error).toBe("consent_required");
    const { request, allow } = await openQuestion(at);
    expect(request).toMatchObject({ isChanged: true, alreadyGranted: [] });
    expect(request.scopes.map(({ scope }) => scope)).toEqual(["openid", "profile"]);
    expect(await resume(at, await allow())).toMatchObject(passes);
    expect(await ask(at)).toMatchObject(passes);
  });

  test("S36 gets only what the new answer allows", async () => {
    const at = await agreed();
    await (changes[0] as (typeof changes)[number])[1](at);
    await agree(at, { scope: "openid profile" });
    expect(await ask(at, { scope: "openid profile email" })).toMatchObject(asks);
  });

  test("S36 keeps its signed-in users signed in", async () => {
    const at = await agreed();
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { scope: "openid profile email" });
    await (changes[0] as (typeof changes)[number])[1](at);
    await agree(at, { scope: "openid profile" });
    expect((await world.userinfo(tokens.access_token)).status).toBe(200);
  });

  test("S36 S54 loses sign-ins for a service that the new question does not name", async () => {
    const at = await agreed();
    const identifier = `https://${newId()}.example`;
    await addResourceServer(operatorCommand, { identifier, name: "Harbour", scopes: ["read-repos"] }, noOrigin);
    const scope = "openid read-repos offline_access";
    await agree(at, { scope, resource: identifier, prompt: "consent" });
    const signIn = async (resource: string) => {
      const { tokens } = await world.signInWith(at.app, at.session, at.browser, { scope, resource, prompt: "consent" });
      return tokens.refresh_token ?? "";
    };
    const [own, foreign, slashed] = [await signIn(world.origin), await signIn(identifier), await signIn(`${identifier}/`)];
    await (changes[0] as (typeof changes)[number])[1](at);
    await agree(at, { scope });
    expect((await refresh(at, own)).status).toBe(200);
    for (const ended of [foreign, slashed]) {
      expect(await refresh(at, ended)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    }
  });

  test("S36 keeps its consents if only the order of redirect URIs, its description or its scopes differ", async () => {
    const at = await prepare(world, { isConfidential: true, redirectUris: [REDIRECT_URI, "https://b.example.test/cb"] });
    await agree(at);
    await updateApp(
      operatorCommand,
      at.app.id,
      { redirectUris: ["https://b.example.test/cb", REDIRECT_URI], description: "New", scopes: ["openid", "profile"] },
      noOrigin,
    );
    await isSeen(at, (client) => client.scope === "openid profile offline_access");
    expect(await ask(at)).toMatchObject(passes);
  });
});
