import { afterAll, beforeEach, expect, test } from "vitest";
import { endAllSiteSessions } from "#core/accounts/sessions/end-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { db } from "#core/db.ts";
import { ask, claimsOf, loginStep, openInteraction, openQuestion, resume } from "./testing/authorization.ts";
import { type Prepared, prepare, refresh } from "./testing/sign-in.ts";
import { startWorld } from "./testing/world.ts";

let at: Prepared;
const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  at = await prepare(world, { isConfidential: true });
  await world.signInWith(at.app, at.session, at.browser);
});

const engineCookie = () => `provider-${new URL(world.origin).port}`;
const cookieOf = ({ browser }: Pick<Prepared, "browser">, name: string) =>
  browser
    .cookieHeader(`${world.origin}/oauth/authorize`)
    .split("; ")
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? "";
const passes = { status: 303, isQuestion: false, answer: { code: expect.any(String) } };

function plant(from: Prepared, into: Prepared): void {
  for (const name of [engineCookie(), `${engineCookie()}.sig`]) into.browser.setCookie(name, cookieOf(from, name), "/oauth");
}

async function subjectOf(prepared: Prepared): Promise<unknown> {
  const { tokens } = await world.signInWith(prepared.app, prepared.session, prepared.browser);
  return claimsOf(tokens.id_token ?? "").sub;
}

test("S34 another user's engine session, planted in the browser, signs nobody in", async () => {
  const attacker = await prepare(world);
  await world.signInWith(attacker.app, attacker.session, attacker.browser);
  plant(attacker, at);
  expect(await subjectOf(at)).toBe(at.person.id);
  expect(cookieOf(at, engineCookie())).not.toBe(cookieOf(attacker, engineCookie()));
});

test("S34 an engine session without its site session is invalid", async () => {
  const thief = { ...at, browser: world.browser() };
  plant(at, thief);
  expect((await ask(thief, { prompt: "none" })).answer.error).toBe("login_required");
  expect(await ask(at, { prompt: "none" })).toMatchObject(passes);
  await endAllSiteSessions(at.person.id);
  expect((await ask(at, { prompt: "none" })).answer.error).toBe("login_required");
});

test("S34 every sign-in gives the engine's session a new ID", async () => {
  const before = cookieOf(at, engineCookie());
  const old = { ...at, browser: world.browser() };
  plant(at, old);
  expect(before).not.toBe("");

  await endAllSiteSessions(at.person.id);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  at.session = await world.signIn(at.browser, at.person);
  await db().siteSession.update({ where: { id: at.session.id }, data: { methods: ["pwd", "otp", "mfa"] } });
  const { tokens } = await world.signInWith(at.app, at.session, at.browser, { max_age: "100" });
  expect(cookieOf(at, engineCookie())).not.toBe(before);
  expect(claimsOf(tokens.id_token ?? "").amr, "how they signed in (RFC 8176)").toEqual(["pwd", "otp", "mfa"]);
  expect(claimsOf(tokens.id_token ?? "").auth_time).toBe(Math.floor(at.session.authenticatedAt.getTime() / 1000));

  const { name } = siteSessionCookie();
  old.browser.setCookie(name, cookieOf(at, name));
  expect(await ask(old, { prompt: "none" })).toMatchObject(passes);
  expect(cookieOf(old, engineCookie())).not.toBe(before);
});

test("OIDC Core §3.1.2.1 an app that requests a level of authentication gets the level of the sign-in", async () => {
  const visitor = await prepare(world, { isRefreshAllowed: true });
  const signIn = (parameters: Record<string, string>) =>
    world.signInWith(visitor.app, visitor.session, visitor.browser, parameters).then(({ tokens }) => tokens);
  const acrOf = ({ id_token = "" }: { id_token?: string }) => claimsOf(id_token).acr;
  expect(acrOf(await signIn({}))).toBeUndefined();
  expect(acrOf(await signIn({ acr_values: "2 1" }))).toBe("1");
  await db().siteSession.update({ where: { id: visitor.session.id }, data: { methods: ["pwd", "otp", "mfa"] } });
  const tokens = await signIn({ acr_values: "2" });
  expect(acrOf(tokens)).toBe("2");
  expect(acrOf((await refresh(visitor, tokens.refresh_token ?? "")).body)).toBe("2");
});

test("S34 an answered question yields no code once another account has signed in", async () => {
  const question = await openQuestion(at, { prompt: "consent" });
  const url = await question.allow();
  await world.signIn(at.browser, await world.user(`b-${at.person.username}`.slice(0, 30)));
  const aborted = await resume(at, url);
  expect(aborted).toMatchObject({ status: 400, location: undefined });
  expect(aborted.page).toContain("This sign-in has expired");
});

test("S34 an answered question is invalid once the user has signed out", async () => {
  const question = await openQuestion(at, { prompt: "consent" });
  const url = await question.allow();
  await endAllSiteSessions(at.person.id);
  expect(await resume(at, url)).toMatchObject({ status: 400, location: undefined });
});

test("S34 a sign-in for a request is invalid once the user has signed out", async () => {
  const answered = async () => {
    const anonymous = { ...at, browser: world.browser() };
    const step = await loginStep(anonymous, await ask(anonymous), at.session);
    if (step.step !== "continue") throw new Error(`the sign-in did not continue: ${step.step}`);
    return { anonymous, url: step.url };
  };
  const [lasting, ended] = [await answered(), await answered()];
  lasting.anonymous.browser.setCookie(siteSessionCookie().name, cookieOf(at, siteSessionCookie().name));
  expect(await resume(lasting.anonymous, lasting.url)).toMatchObject(passes);

  await endAllSiteSessions(at.person.id);
  expect(await resume(ended.anonymous, ended.url)).toMatchObject({ status: 400, location: undefined });
});

test("a user who opens two apps at the same time is signed in to both", async () => {
  const fresh = await prepare(world);
  const second = await world.app(fresh.person);
  const both = [fresh, { ...fresh, app: second }];
  const asked = await Promise.all(both.map((each) => ask(each)));
  for (const [index, each] of both.entries()) {
    const question = await openInteraction(each, asked[index] as (typeof asked)[number]);
    expect(await resume(each, await question.allow())).toMatchObject(passes);
  }
});
