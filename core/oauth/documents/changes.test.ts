import { generateKeyPairSync } from "node:crypto";
import pg from "pg";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ENTRIES_IN_ALL, ENTRIES_OF_SOURCE, throttleKey } from "#core/accounts/throttle.ts";
import { db } from "#core/db.ts";
import { databaseUrl } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { ask, openInteraction, openQuestion, resume } from "../testing/authorization.ts";
import { makeStale } from "../testing/document-site.ts";
import { refresh } from "../testing/sign-in.ts";
import { signInAtSite, type Visit, visitSite } from "../testing/site-visit.ts";
import { startWorld } from "../testing/world.ts";
import { findBearer } from "../tokens/find-bearer.ts";
import { BACKOFF_MS, STALE_MAX_SECONDS } from "./prepare-client.ts";
import { CHANGES_OF_DOCUMENT } from "./store-document.ts";
import { forgetFetches } from "./within-fetch-limits.ts";

const visits: Visit[] = [];
const world = await startWorld();
beforeEach(forgetFetches);
afterAll(async () => {
  await world.stop();
  for (const { site } of visits) await site.stop();
});

const [ONE, TWO, THREE] = ["https://kite.example/one", "https://kite.example/two", "https://kite.example/three"] as const;

async function visit(changes: Record<string, unknown> = {}): Promise<Visit> {
  const made = await visitSite(world, { redirect_uris: [ONE, TWO], ...changes });
  visits.push(made);
  return made;
}

async function change({ site }: Visit, changes: Record<string, unknown>): Promise<void> {
  site.publish(changes);
  await makeStale(site.clientId);
}

const isAlive = async (token: string) => (await world.userinfo(token)).status === 200;
const offline = { redirect_uri: ONE, scope: "openid profile offline_access" };

describe("S36 users are asked again only if the app looks different from what they allowed", () => {
  test.each<[string, Record<string, unknown>, boolean]>([
    ["another name", { client_name: "Kite Flyer" }, true],
    ["one more redirect URI", { redirect_uris: [ONE, TWO, THREE] }, true],
    ["one redirect URI fewer", { redirect_uris: [ONE] }, true],
    ["nothing", {}, false],
    ["redirect URIs in another order", { redirect_uris: [TWO, ONE] }, false],
    ["another homepage", { client_uri: "https://kite.example/" }, false],
  ])("%s", async (_, changes, isAskedAgain) => {
    const at = await visit();
    const tokens = await signInAtSite(at, { redirect_uri: ONE });
    await change(at, changes);
    const silent = await ask(at, { redirect_uri: ONE, prompt: "none" });
    if (!isAskedAgain) return expect(silent.answer).toHaveProperty("code");
    expect(silent.answer).toMatchObject({ error: "consent_required" });
    const question = await openQuestion(at, { redirect_uri: ONE });
    expect(question.request).toMatchObject({ isChanged: true, alreadyGranted: [] });
    await question.allow();
    expect((await ask(at, { redirect_uri: ONE, prompt: "none" })).answer).toHaveProperty("code");
    expect(await isAlive(tokens.access_token)).toBe(true);
  });
});

test.each([
  ["another name", { client_name: "Kite Flyer" }],
  ["one more redirect URI", { redirect_uris: [ONE, TWO, THREE] }],
])("S36 if the document gets %s while a user reads the page, the answer is refused", async (_, changes) => {
  const at = await visit();
  const outcome = await ask(at, { redirect_uri: ONE });
  const { allow } = await openInteraction(at, outcome);
  await change(at, changes);
  await ask({ ...at, browser: world.browser() }, { redirect_uri: ONE });
  await expect(allow()).rejects.toMatchObject({ code: "invalid_request", message: expect.stringMatching(/has changed/) });
  expect(await db().oAuthConsent.count({ where: { clientId: at.site.clientId } })).toBe(0);
  expect((await resume(at, await (await openInteraction(at, outcome)).allow())).answer).toHaveProperty("code");
});

describe("S86 a redirect URI that is removed", () => {
  test("is refused at once on an error page", async () => {
    const at = await visit();
    await signInAtSite(at, { redirect_uri: TWO });
    await change(at, { redirect_uris: [ONE] });
    const { status, location, page } = await ask(at, { redirect_uri: TWO });
    expect([status, location]).toEqual([400, undefined]);
    // The content of the document is public (docs/specification/oauth.md#authorization-request).
    expect(page).toContain(`<dt>Redirect URI sent</dt><dd><code>${TWO}</code></dd>`);
    expect(page).toContain(`<dt>Registered redirect URIs</dt><dd><code>${ONE}</code></dd>`);
  });

  test("ends only the Grants that used it", async () => {
    const at = await visit();
    const viaOne = await signInAtSite(at, offline);
    const viaTwo = await signInAtSite(at, { ...offline, redirect_uri: TWO });
    const silently = await signInAtSite(at, { ...offline, redirect_uri: TWO });
    await change(at, { redirect_uris: [ONE, THREE] });
    await ask(at, { redirect_uri: ONE });
    expect(await Promise.all([viaOne, viaTwo, silently].map(({ access_token }) => isAlive(access_token)))).toEqual([
      true,
      false,
      false,
    ]);
    expect((await refresh(at, viaTwo.refresh_token)).body).toMatchObject({ error: "invalid_grant" });
    expect((await refresh(at, viaOne.refresh_token)).status).toBe(200);
    const { data } = await db().auditEvent.findFirstOrThrow({
      where: { type: "oauth_client_document.change", clientId: at.site.clientId },
    });
    expect(data).toEqual({ redirect_uris: { added: [THREE], removed: [TWO] }, revokedGrants: 2 });
  });

  test("ends a question that a user is reading", async () => {
    const at = await visit();
    const question = await openQuestion(at, { redirect_uri: TWO });
    await change(at, { redirect_uris: [ONE] });
    await ask({ ...at, browser: world.browser() }, { redirect_uri: ONE });
    await expect(question.allow()).rejects.toMatchObject({ code: "gone" });
  });

  test("ends an answered request whose browser has not returned to the site", async () => {
    const at = await visit();
    const url = await (await openQuestion(at, { redirect_uri: TWO })).allow();
    await change(at, { redirect_uris: [ONE] });
    await ask({ ...at, browser: world.browser() }, { redirect_uri: ONE });
    const { status, location } = await resume(at, url);
    expect([status, location]).toEqual([400, undefined]);
  });

  test("keeps its Grants if it is a loopback URI and only its port has changed", async () => {
    const at = await visit({ redirect_uris: [ONE, TWO, "http://127.0.0.1/cb"] });
    const tokens = await signInAtSite(at, { redirect_uri: "http://127.0.0.1:7331/cb" });
    await change(at, { redirect_uris: [ONE, "http://127.0.0.1:1/cb"] });
    await ask(at, { redirect_uri: ONE });
    expect(await isAlive(tokens.access_token)).toBe(true);
  });

  test("is refused in every process, because each process is notified", async () => {
    const at = await visit();
    await signInAtSite(at, { redirect_uri: ONE });
    const heard: (string | undefined)[] = [];
    const listener = new pg.Client({ connectionString: databaseUrl() });
    await listener.connect();
    listener.on("notification", ({ payload }) => heard.push(payload));
    await listener.query("LISTEN oauth_app");
    await change(at, { redirect_uris: [ONE] });
    await ask(at, { redirect_uri: ONE });
    await vi.waitFor(() => expect(heard).toEqual([at.site.clientId]));
    await makeStale(at.site.clientId);
    await ask(at, { redirect_uri: ONE });
    await listener.query("SELECT 1");
    expect(heard).toHaveLength(1);
    await listener.end();
    expect((await findClientMetadata(at.site.clientId))?.redirect_uris).toEqual([ONE]);
  });
});

test("S144 a limited number of changes is recorded for a document, for its host and in total", async () => {
  const at = await visit();
  await signInAtSite(at, { redirect_uri: ONE });
  const recorded = () => db().auditEvent.count({ where: { type: "oauth_client_document.change", clientId: at.site.clientId } });
  const changeOnce = async () => {
    await change(at, { client_name: `Kite ${newId()}` });
    await ask(at, { redirect_uri: ONE });
    return recorded();
  };
  expect(await changeOnce()).toBe(1);
  for (const [key, count] of [
    [throttleKey("document_change", at.site.clientId), CHANGES_OF_DOCUMENT],
    [throttleKey("document_change-source", "localhost"), ENTRIES_OF_SOURCE.limit],
    [throttleKey("document_change-all", ""), ENTRIES_IN_ALL.limit],
  ] as const) {
    const before = await db().throttle.findUniqueOrThrow({ where: { key } });
    await db().throttle.update({ where: { key }, data: { count } });
    expect(await changeOnce()).toBe(1);
    expect(
      (await findClientMetadata(at.site.clientId))?.client_name,
      "the change takes effect although it is not recorded",
    ).toMatch(/^Kite [0-9a-f]/);
    await db().throttle.update({ where: { key }, data: { count: before.count } });
  }
  expect(await changeOnce()).toBe(2);
});

describe("requests that continue a sign-in", () => {
  test("use a stale document while its site is down, and wait for the site once", async () => {
    const at = await visit();
    const first = await signInAtSite(at, offline);
    await makeStale(at.site.clientId);
    at.site.serve({ status: 502 });
    const second = await refresh(at, first.refresh_token);
    expect(second.status).toBe(200);
    const third = await refresh(at, second.body.refresh_token);
    expect(third.status).toBe(200);
    expect(at.site.fetches()).toBe(2);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + BACKOFF_MS + 1_000 });
    try {
      await refresh(at, third.body.refresh_token);
    } finally {
      vi.useRealTimers();
    }
    expect(at.site.fetches()).toBe(3);
  });

  test("refuse a document that has been stale for more than a week", async () => {
    const at = await visit();
    const { refresh_token } = await signInAtSite(at, offline);
    await makeStale(at.site.clientId, STALE_MAX_SECONDS + 60);
    at.site.serve({ status: 502 });
    const refused = await refresh(at, refresh_token);
    expect(refused).toMatchObject({ status: 503, body: { error: "temporarily_unavailable" } });
    at.site.publish();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + BACKOFF_MS + 1_000 });
    try {
      expect((await refresh(at, refresh_token)).status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each<[string, Parameters<Visit["site"]["serve"]>[0]]>([
    ["gone", { status: 404 }],
    ["moved", { status: 302, headers: { location: "https://elsewhere.example/" } }],
    ["broken", { body: "{" }],
    [
      "that of another client",
      { body: JSON.stringify({ client_id: "https://evil.example/c", client_name: "K", redirect_uris: [ONE] }) },
    ],
  ])("are refused once the document is %s", async (_, served) => {
    const at = await visit();
    const { refresh_token, access_token } = await signInAtSite(at, offline);
    await makeStale(at.site.clientId);
    at.site.serve(served);
    expect(await refresh(at, refresh_token)).toMatchObject({
      status: 401,
      body: { error: "invalid_client", error_description: expect.stringMatching(/\w/) },
    });
    expect(await isAlive(access_token)).toBe(true);
    at.site.publish();
    expect((await refresh(at, refresh_token)).status).toBe(200);
  });

  test("need current keys, because old keys may have been stolen (S73)", async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const at = await visit({
      token_endpoint_auth_method: "private_key_jwt",
      jwks: { keys: [publicKey.export({ format: "jwk" })] },
    });
    await ask(at, { redirect_uri: ONE });
    await makeStale(at.site.clientId);
    at.site.serve({ status: 503 });
    const response = await world.post("/oauth/token", {
      grant_type: "refresh_token",
      refresh_token: "x",
      client_id: at.site.clientId,
    });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  });

  test("the use of a token causes no fetch, even if the document is old", async () => {
    const at = await visit();
    const { access_token } = await signInAtSite(at, offline);
    await makeStale(at.site.clientId, STALE_MAX_SECONDS * 2);
    at.site.serve({ status: 404 });
    expect(await isAlive(access_token)).toBe(true);
    expect(await findBearer(access_token, { scheme: "bearer" })).toMatchObject({ clientId: at.site.clientId });
    await world.post("/oauth/revoke", { token: access_token, client_id: at.site.clientId });
    expect(await isAlive(access_token)).toBe(false);
    expect(at.site.fetches()).toBe(1);
  });
});
