import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { queueForLock } from "#core/testing/as-owner.ts";
import { ask, type OpenQuestion, openInteraction, openQuestion, resume } from "../testing/authorization.ts";
import { type Prepared, prepare, refresh, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { grantConsent } from "./grant-consent.ts";

let at: Prepared;
const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  at = await prepare(world, { isConfidential: true });
});

const passes = { status: 303, isQuestion: false, answer: { code: expect.any(String) } };
const ALL = "openid profile email read-repos";
const liveConsents = () => db().oAuthConsent.findMany({ where: { clientId: at.app.clientId, revokedAt: null } });
const theConsent = async () => (await liveConsents())[0];

const answerTo = ({ request }: OpenQuestion) => ({
  scopes: request.scopes.map(({ scope }) => scope as string),
  orgIds: [] as string[],
  isAllOrgs: false,
  accountId: at.person.id,
  fingerprint: request.fingerprint,
});

describe("S25 who may answer a question", () => {
  test("S25 a second answer is refused", async () => {
    const question = await openQuestion(at);
    const url = await question.allow();
    await expect(question.allow()).rejects.toMatchObject({ code: "gone" });
    expect(await resume(at, url)).toMatchObject(passes);
    await expect(question.allow()).rejects.toMatchObject({ code: "gone" });
    expect(await resume(at, url)).toMatchObject({ status: 400, location: undefined });
    expect(await db().oAuthGrant.count({ where: { clientId: at.app.clientId } })).toBe(1);
  });

  test("S25 a double click yields one consent and one code", async () => {
    const question = await openQuestion(at);
    const pressed = await Promise.allSettled([question.allow(), question.allow(), question.allow()]);
    const taken = pressed.filter((each) => each.status === "fulfilled").map(({ value }) => value);
    expect(taken.length).toBeGreaterThan(0);
    for (const each of pressed) if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "gone" });
    expect(await liveConsents()).toHaveLength(1);
    expect(await resume(at, taken[0] as string)).toMatchObject(passes);
    expect(await resume(at, taken[0] as string)).toMatchObject({ status: 400, location: undefined });
    expect(await db().oAuthArtifact.count({ where: { model: "AuthorizationCode", clientId: at.app.clientId } })).toBe(1);
  });

  test("S25 an answer from another browser is refused", async () => {
    const question = await openQuestion(at);
    const other = world.browser();
    const session = await world.signIn(other, at.person);
    const page = `/interaction/${question.at.uid}`;
    const sent = (cookie: string) => grantConsent({ uid: question.at.uid, cookie }, session, answerTo(question), noOrigin);
    await expect(sent(other.cookieHeader(page))).rejects.toMatchObject({ code: "gone" });
    const forged = question.at.cookie.replace(/(interaction-\d+\.sig=)[^;]+/, "$1AAAAAAAAAAAAAAAAAAAAAAAAAAA");
    expect(forged).not.toBe(question.at.cookie);
    await expect(sent(forged)).rejects.toMatchObject({ code: "gone" });
    expect(await liveConsents()).toEqual([]);
  });

  test("S25 the cookie of one question cannot answer another question", async () => {
    const first = await openQuestion(at);
    const second = await openQuestion(at, { scope: ALL });
    const mixed = { uid: second.at.uid, cookie: first.at.cookie };
    await expect(grantConsent(mixed, at.session, answerTo(second), noOrigin)).rejects.toMatchObject({ code: "gone" });
    for (const uid of ["", "x".repeat(5000), "a\0b", "../../etc"]) {
      const odd = { uid, cookie: first.at.cookie };
      await expect(grantConsent(odd, at.session, answerTo(first), noOrigin)).rejects.toMatchObject({ code: "gone" });
    }
  });

  test("S25 a question to one account ends when another account signs in", async () => {
    const question = await openQuestion(at);
    const other = await world.user(`b-${newId()}`);
    const session = await world.signIn(at.browser, other);
    for (const accountId of [at.person.id, other.id, "", "a\0"]) {
      const answer = { ...answerTo(question), accountId };
      await expect(grantConsent(question.at, session, answer, noOrigin)).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(await liveConsents()).toEqual([]);
  });

  test("S25 an answer from a page that showed another account is forbidden", async () => {
    const question = await openQuestion(at);
    await expect(question.allow({ accountId: newId() })).rejects.toMatchObject({ code: "forbidden" });
    expect(await liveConsents()).toEqual([]);
  });

  test("S25 a question about signing in cannot be answered with a consent", async () => {
    await world.signInWith(at.app, at.session, at.browser);
    const asked = await ask(at, { prompt: "login" });
    const question = await openInteraction(at, asked);
    await expect(question.allow()).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("S25 an app that was deleted in the meantime gets nothing", async () => {
    const question = await openQuestion(at);
    await db().oAuthApp.delete({ where: { id: at.app.id } });
    await db().$executeRaw`SELECT pg_notify('oauth_app', ${at.app.clientId})`;
    await expect(question.allow()).rejects.toMatchObject({ code: "gone" });
  });
});

describe("S30 an unticked scope", () => {
  test("S30 is missing from the token's scope and from userinfo", async () => {
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { scope: ALL }, { scopes: ["read-repos"] });
    expect(tokens.scope).toBe("openid profile read-repos");
    const claims = await (await world.userinfo(tokens.access_token)).json();
    expect(claims).not.toHaveProperty("email");
  });

  test("S30 is remembered as declined", async () => {
    await world.signInWith(at.app, at.session, at.browser, { scope: ALL }, { scopes: ["read-repos"] });
    expect(await theConsent()).toMatchObject({ scopes: ["openid", "profile", "read-repos"], declinedScopes: ["email"] });
    expect(await ask(at, { scope: ALL })).toMatchObject(passes);
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { scope: ALL });
    expect(tokens.scope).toBe("openid profile read-repos");
  });

  test("S30 is granted anyway if every sign-in needs it", async () => {
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { scope: ALL }, { scopes: [] });
    expect(tokens.scope).toBe("openid profile");
  });

  test("S30 can be ticked later, when the app requests the page", async () => {
    await world.signInWith(at.app, at.session, at.browser, { scope: ALL }, { scopes: [] });
    const { tokens } = await world.signInWith(
      at.app,
      at.session,
      at.browser,
      { scope: ALL, prompt: "consent" },
      { scopes: ["email"] },
    );
    expect(tokens.scope).toBe("openid profile email");
    expect(await theConsent()).toMatchObject({ scopes: ["openid", "profile", "email"], declinedScopes: ["read-repos"] });
  });

  test("S30 that was granted before is removed from issued tokens", async () => {
    const parameters = { scope: "openid profile email" };
    const first = await signIn(world, { isRefreshAllowed: true }, parameters);
    const second = await world.signInWith(
      first.app,
      first.session,
      first.browser,
      { ...parameters, prompt: "consent" },
      { scopes: [] },
    );
    expect((await world.userinfo(first.tokens.access_token)).status).toBe(401);
    expect((await refresh(first, first.tokens.refresh_token)).body.error).toBe("invalid_grant");
    expect((await world.userinfo(second.tokens.access_token)).status).toBe(200);
  });

  test("S30 leads to access_denied if all scopes are unticked", async () => {
    const landed = await world.follow(at.browser, world.authorizeUrl(at.app, { ...pkce, scope: "email" }), at.session, {
      scopes: [],
    });
    expect(landed instanceof URL && landed.searchParams.get("error")).toBe("access_denied");
  });
});

const pkce = { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" };

describe("an app that asks for more later", () => {
  test("is asked about only the new scope, and keeps its earlier scopes", async () => {
    const before = await world.signInWith(at.app, at.session, at.browser, { scope: "openid profile" });
    const question = await openQuestion(at, { scope: ALL });
    expect(question.request.scopes.map(({ scope }) => scope)).toEqual(["email", "read-repos"]);
    expect(question.request.alreadyGranted.map(({ scope }) => scope)).toEqual(["openid", "profile"]);
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { scope: ALL });
    expect(tokens.scope).toBe(ALL);
    expect((await world.userinfo(before.tokens.access_token)).status).toBe(200);
  });

  test("gets no more scopes than it requests", async () => {
    await world.signInWith(at.app, at.session, at.browser, { scope: ALL });
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { scope: "openid" });
    expect(tokens.scope).toBe("openid");
  });

  test("is asked once about lasting access, and then gets a refresh token", async () => {
    await world.signInWith(at.app, at.session, at.browser);
    const lasting = { scope: "openid profile offline_access" };
    const question = await openQuestion(at, lasting);
    expect(question.request).toMatchObject({ scopes: [], isOffline: true });
    const first = await world.signInWith(at.app, at.session, at.browser, lasting);
    expect(first.tokens).toMatchObject({ refresh_token: expect.any(String), scope: "openid profile offline_access" });
    expect(await ask(at, lasting)).toMatchObject(passes);
    const without = await world.signInWith(at.app, at.session, at.browser);
    expect(without.tokens).not.toHaveProperty("refresh_token");
    expect((await theConsent())?.scopes).toContain("offline_access");
  });
});

describe("S31 S32 organizations", () => {
  let mine: string;
  let second: string;
  beforeEach(async () => {
    mine = await world.organization(`o-${newId()}`, { [at.person.id]: "write" });
    second = await world.organization(`o-${newId()}`, { [at.person.id]: "read" });
  });
  const orgsOf = async (accessToken: string) => {
    const claims = (await (await world.userinfo(accessToken)).json()) as { orgs: { sub: string }[] };
    return claims.orgs.map(({ sub }) => sub);
  };

  test("S31 that were requested are granted only if they are ticked", async () => {
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { orgIds: mine }, { orgIds: [] });
    expect(await orgsOf(tokens.access_token)).toEqual([]);
  });

  test("S31 that are ticked are granted even if they were not requested", async () => {
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { orgIds: mine }, { orgIds: [second] });
    expect(await orgsOf(tokens.access_token)).toEqual([second]);
  });

  test("S31 are granted by the memberships at the time of the answer", async () => {
    const question = await openQuestion(at, { orgIds: mine });
    await db().membership.deleteMany({ where: { orgId: mine } });
    await expect(question.allow()).rejects.toMatchObject({ code: "invalid_request" });
    expect(await liveConsents()).toEqual([]);
  });

  test("S49 are not granted if the membership ends at the moment of the answer", async () => {
    const question = await openQuestion(at, { orgIds: mine });
    const [allowed] = await queueForLock(`DELETE FROM membership WHERE org_id = '${mine}'`, [
      () => question.allow({ orgIds: [mine, second] }),
    ]);
    await allowed;
    expect(await theConsent()).toMatchObject({ orgIds: [second] });
  });

  test("S112 are not granted if the user is disabled at the moment of the answer", async () => {
    const question = await openQuestion(at, { orgIds: mine });
    const [allowed] = await queueForLock(`UPDATE "user" SET disabled_at = now() WHERE id = '${at.person.id}'`, [
      () => question.allow({ orgIds: [mine] }),
    ]);
    await expect(allowed).rejects.toMatchObject({ code: "not_found" });
    expect(await liveConsents()).toEqual([]);
  });

  test("S31 leave the token when the membership ends", async () => {
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, {}, { orgIds: [mine] });
    const third = await world.organization(`o-${newId()}`, { [at.person.id]: "admin" });
    expect(await orgsOf(tokens.access_token)).toEqual([mine]);
    await db().membership.deleteMany({ where: { orgId: mine } });
    expect(await orgsOf(tokens.access_token)).toEqual([]);
    expect(third).toBeTruthy();
  });

  test('S32 that are ticked one by one are stored differently from "all, now and later"', async () => {
    const each = await world.signInWith(at.app, at.session, at.browser, {}, { orgIds: [mine, second] });
    expect(await theConsent()).toMatchObject({ isAllOrgs: false, orgIds: expect.arrayContaining([mine, second]) });
    const all = await world.signInWith(at.app, at.session, at.browser, { prompt: "consent" }, { isAllOrgs: true });
    expect(await theConsent()).toMatchObject({ isAllOrgs: true });
    const third = await world.organization(`o-${newId()}`, { [at.person.id]: "read" });
    expect(await orgsOf(each.tokens.access_token)).not.toContain(third);
    expect(await orgsOf(all.tokens.access_token)).toContain(third);
    expect(await ask(at, { orgIds: third })).toMatchObject(passes);
  });

  test('S32 that are ticked one by one end sign-ins with "all organizations"', async () => {
    const all = await world.signInWith(at.app, at.session, at.browser, {}, { isAllOrgs: true });
    const each = { isAllOrgs: false, orgIds: [mine, second] };
    const some = await world.signInWith(at.app, at.session, at.browser, { prompt: "consent" }, each);
    expect((await world.userinfo(all.tokens.access_token)).status).toBe(401);
    expect((await orgsOf(some.tokens.access_token)).toSorted()).toEqual([mine, second].toSorted());
  });

  test("that are unticked end only the tokens that contain them", async () => {
    const both = await world.signInWith(at.app, at.session, at.browser, {}, { orgIds: [mine, second] });
    const one = await world.signInWith(at.app, at.session, at.browser, { prompt: "consent" }, { orgIds: [mine] });
    const more = await world.signInWith(at.app, at.session, at.browser, { prompt: "consent" }, { orgIds: [mine, second] });
    expect((await world.userinfo(both.tokens.access_token)).status).toBe(401);
    expect(await orgsOf(one.tokens.access_token)).toEqual([mine]);
    expect((await orgsOf(more.tokens.access_token)).toSorted()).toEqual([mine, second].toSorted());
  });

  test("that were requested and unticked are asked about again only when the app requests the page", async () => {
    await world.signInWith(at.app, at.session, at.browser, { orgIds: mine }, { orgIds: [] });
    expect(await ask(at, { orgIds: mine })).toMatchObject(passes);
    expect(await ask(at, { orgIds: second })).toMatchObject({ isQuestion: true });
    const { request } = await openQuestion(at, { orgIds: mine, prompt: "consent" });
    expect(request.organizations.find(({ id }) => id === mine)).toMatchObject({ isAskedFor: true, isTicked: false });
  });
});

describe("S33 an answer to something that was not asked", () => {
  test.each([
    ["a scope that was not requested", { scopes: ["openid", "profile", "email"] }],
    ["a scope that the app has not configured", { scopes: ["openid", "profile", "manage-repos"] }],
    ["a scope that does not exist", { scopes: ["openid", "profile", "root"] }],
    ["lasting access that was not asked for", { scopes: ["openid", "profile", "offline_access"] }],
    ["a scope with NUL", { scopes: ["openid\0"] }],
    ["the name __proto__", { scopes: ["__proto__"] }],
    ["the name constructor", { scopes: ["constructor"] }],
    ["an empty scope", { scopes: [""] }],
    ["an organization that does not exist", { orgIds: ["0123456789abcdef01234567"] }],
    ["an invalid id", { orgIds: ["1' OR '1'='1"] }],
    ["NUL for an organization", { orgIds: ["\0"] }],
  ])("S33 with %s is refused, and stores nothing", async (_, answer) => {
    const question = await openQuestion(at);
    await expect(question.allow(answer)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await liveConsents()).toEqual([]);
    expect(await resume(at, await question.allow())).toMatchObject(passes);
  });

  test("S33 gets the same error for a foreign organization as for a missing one (S22)", async () => {
    const theirs = await world.organization(`o-${newId()}`, { [(await world.user(`x-${newId()}`)).id]: "admin" });
    const question = await openQuestion(at, { orgIds: theirs });
    const refusal = async (id: string) =>
      question.allow({ orgIds: [id] }).catch((error: Error) => `${error.name} ${error.message}`);
    expect(await refusal(theirs)).toBe(await refusal(newId()));
    expect(await liveConsents()).toEqual([]);
  });
});

describe("two browsers of one person at the same moment", () => {
  test("leave one consent with the items that were ticked in either", async () => {
    const scopes = ["email", "read-repos", "jobs", "webhooks", "write-discussions"] as const;
    at = await prepare(world, { isConfidential: true, scopes: ["openid", ...scopes] });
    const browsers = await Promise.all(
      scopes.map(async (scope) => {
        const browser = world.browser();
        const here = { ...at, browser, session: await world.signIn(browser, at.person) };
        return { here, question: await openQuestion(here, { scope: `openid ${scope}` }) };
      }),
    );
    const urls = await Promise.all(browsers.map(({ question }) => question.allow()));
    const consents = await liveConsents();
    expect(consents).toHaveLength(1);
    expect(consents[0]?.scopes.toSorted()).toEqual(["openid", ...scopes].toSorted());
    for (const [index, { here }] of browsers.entries()) expect(await resume(here, urls[index] as string)).toMatchObject(passes);
  });

  test("can both answer, although the second page is outdated", async () => {
    const other = { ...at, browser: world.browser() };
    other.session = await world.signIn(other.browser, at.person);
    const [slow, fast] = [await openQuestion(at, { scope: ALL }), await openQuestion(other, { scope: ALL })];
    await fast.allow();
    expect(await resume(at, await slow.allow({ scopes: answerTo(slow).scopes }))).toMatchObject(passes);
  });

  test("narrowing the consent takes precedence over a sign-in in progress", async () => {
    await world.signInWith(at.app, at.session, at.browser, { scope: ALL });
    for (let round = 0; round < 5; round++) {
      const question = await openQuestion(at, { scope: ALL, prompt: "consent" });
      const [, ...passed] = await Promise.all([
        question.allow({ scopes: ["openid", "profile"] }),
        ...Array.from({ length: 6 }, () => ask(at, { scope: ALL })),
      ]);
      for (const outcome of passed) expect(outcome.status).toBe(303);
      const excess = await db().$queryRaw<unknown[]>`
        SELECT g.id FROM oauth_grant g JOIN oauth_consent c ON c.id = g.consent_id
        WHERE c.client_id = ${at.app.clientId} AND g.revoked_at IS NULL
          AND NOT string_to_array(g.payload #>> '{openid,scope}', ' ') <@ c.scopes`;
      expect(excess).toEqual([]);
      await world.signInWith(
        at.app,
        at.session,
        at.browser,
        { scope: ALL, prompt: "consent" },
        { scopes: ["email", "read-repos"] },
      );
    }
  });
});

test("S116 the entry has the granted and the declined scopes", async () => {
  await world.signInWith(at.app, at.session, at.browser, { scope: ALL }, { scopes: ["email"] });
  const [event] = await db().auditEvent.findMany({ where: { type: "oauth_consent.give", clientId: at.app.clientId } });
  expect(event).toMatchObject({
    actorId: at.person.id,
    data: { scopes: ["openid", "profile", "email"], declinedScopes: ["read-repos"], isAllOrgs: false },
  });
});
