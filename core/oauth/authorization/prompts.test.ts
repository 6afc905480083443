import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { endAllSiteSessions } from "#core/accounts/sessions/end-site-session.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { revokeConsent } from "../consents/revoke-consent.ts";
import { addResourceServer } from "../resources/manage-resource-servers.ts";
import { ask, claimsOf, loginStep, openInteraction, openQuestion, PKCE, resume } from "../testing/authorization.ts";
import { type Prepared, prepare } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

let at: Prepared;
const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  at = await prepare(world, { isConfidential: true });
});

const isRefused = (error: string) => ({ status: 303, isQuestion: false, answer: { error, state: "a state", iss: world.origin } });
const passes = { status: 303, isQuestion: false, answer: { code: expect.any(String) } };
const signInWith = (parameters: Record<string, string> = {}) => world.signInWith(at.app, at.session, at.browser, parameters);

async function age(seconds: number): Promise<void> {
  await db().siteSession.updateMany({
    where: { userId: at.person.id },
    data: { authenticatedAt: new Date(Date.now() - seconds * 1000) },
  });
}

async function signInAgain(person = at.person): Promise<void> {
  at = { ...at, person, session: await world.signIn(at.browser, person) };
}

describe("S14 prompt=none", () => {
  test("S14 without a session fails with login_required", async () => {
    expect(await ask({ ...at, browser: world.browser() }, { prompt: "none" })).toMatchObject(isRefused("login_required"));
  });

  test("S14 without consent fails with consent_required", async () => {
    expect(await ask(at, { prompt: "none" })).toMatchObject(isRefused("consent_required"));
  });

  test("S14 with a session and consent passes", async () => {
    await signInWith();
    expect(await ask(at, { prompt: "none" })).toMatchObject(passes);
  });

  test("S14 with a scope beyond the consent fails with consent_required", async () => {
    await signInWith();
    expect(await ask(at, { prompt: "none", scope: "openid profile email" })).toMatchObject(isRefused("consent_required"));
  });

  test("S14 fails with consent_required after the consent was revoked", async () => {
    await signInWith();
    const consent = await db().oAuthConsent.findFirstOrThrow({ where: { userId: at.person.id } });
    await revokeConsent(at.session, consent.id, noOrigin);
    expect(await ask(at, { prompt: "none" })).toMatchObject(isRefused("consent_required"));
  });

  test("S14 fails with login_required after the user has signed out or was disabled", async () => {
    await signInWith();
    await db().user.update({ where: { id: at.person.id }, data: { disabledAt: new Date() } });
    expect(await ask(at, { prompt: "none" })).toMatchObject(isRefused("login_required"));
    await db().user.update({ where: { id: at.person.id }, data: { disabledAt: null } });
    expect(await ask(at, { prompt: "none" })).toMatchObject(passes);
    await endAllSiteSessions(at.person.id);
    expect(await ask(at, { prompt: "none" })).toMatchObject(isRefused("login_required"));
  });

  test("S14 passes for a user who is signed in only on the service's own pages", async () => {
    await signInWith();
    const browser = world.browser();
    await world.signIn(browser, at.person);
    expect(await ask({ ...at, browser }, { prompt: "none" })).toMatchObject(passes);
  });

  test("S14 with a sign-in older than max_age fails with login_required", async () => {
    await signInWith();
    await age(100);
    expect(await ask(at, { prompt: "none", max_age: "60" })).toMatchObject(isRefused("login_required"));
    expect(await ask(at, { prompt: "none", max_age: "0" })).toMatchObject(isRefused("login_required"));
  });

  test("S14 fails beside another prompt", async () => {
    await signInWith();
    for (const prompt of ["none login", "none consent", "none select_account", "login none"]) {
      expect(await ask(at, { prompt })).toMatchObject(isRefused("invalid_request"));
    }
  });
});

test("an unknown prompt fails with invalid_request", async () => {
  expect(await ask(at, { prompt: "create" })).toMatchObject(isRefused("invalid_request"));
  const supported = (await world.discover()).prompt_values_supported as string[];
  expect(supported).toEqual(["none", "login", "consent", "select_account"]);
  await signInWith();
  for (const prompt of supported.slice(1)) expect(await ask(at, { prompt })).toMatchObject({ isQuestion: true });
});

describe.each([
  ["prompt=login", { prompt: "login" }],
  ["max_age=0", { max_age: "0" }],
])("S15 %s", (_, parameters) => {
  test("S15 asks a user who has just signed in to sign in again", async () => {
    await signInWith();
    const asked = await ask(at, parameters);
    expect(await loginStep(at, asked, at.session)).toMatchObject({ step: "sign-in", isRepeat: true });
    expect(await loginStep(at, asked, at.session)).toMatchObject({ step: "sign-in", isRepeat: true });
    await signInAgain();
    const step = await loginStep(at, asked, at.session);
    expect(step).toMatchObject({ step: "continue" });
    expect(await resume(at, step.step === "continue" ? step.url : "")).toMatchObject(passes);
  });

  test("S15 the ID token has the auth_time of the new sign-in", async () => {
    await signInWith();
    await age(5000);
    const startedAt = Math.floor(Date.now() / 1000);
    const asked = await ask(at, parameters);
    await signInAgain();
    const step = await loginStep(at, asked, at.session);
    const passed = await resume(at, step.step === "continue" ? step.url : "");
    expect(await authTimeOf(passed.answer.code)).toBeGreaterThanOrEqual(startedAt);
  });
});

async function authTimeOf(code: string | undefined): Promise<number> {
  const response = await world.post(
    "/oauth/token",
    {
      grant_type: "authorization_code",
      code: code ?? "",
      code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      redirect_uri: "https://app.example.test/callback",
    },
    { authorization: world.basic(at.app.clientId, at.app.secret ?? "") },
  );
  const body = (await response.json()) as { id_token: string };
  return Number(claimsOf(body.id_token).auth_time);
}

describe("S15 max_age", () => {
  test("S15 that is not exceeded passes", async () => {
    await age(30);
    const { tokens } = await signInWith({ max_age: "60" });
    const now = Date.now() / 1000;
    const authTime = Number(claimsOf(tokens.id_token ?? "").auth_time);
    expect(now - authTime).toBeGreaterThanOrEqual(29);
    expect(now - authTime).toBeLessThan(60);
  });

  test("S15 that is exceeded by two seconds asks for a new sign-in", async () => {
    await signInWith();
    await age(12);
    const asked = await ask(at, { max_age: "10" });
    expect(asked.isQuestion).toBe(true);
    expect(await loginStep(at, asked, await currentSession())).toMatchObject({ step: "sign-in", isRepeat: true });
    const before = Math.floor(Date.now() / 1000);
    await signInAgain();
    const step = await loginStep(at, asked, at.session);
    const passed = await resume(at, step.step === "continue" ? step.url : "");
    expect(await authTimeOf(passed.answer.code)).toBeGreaterThanOrEqual(before);
  });

  test("S15 is satisfied by a user who signs in for this request, even if the sign-in takes longer", async () => {
    const browser = world.browser();
    const asked = await ask({ ...at, browser }, { max_age: "1" });
    expect(await loginStep({ browser }, asked, undefined)).toMatchObject({ step: "sign-in", isRepeat: false });
    const session = await world.signIn(browser, at.person);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await loginStep({ browser }, asked, session)).toMatchObject({ step: "continue" });
  });

  test("S15 is satisfied by a password that was confirmed on the service's own pages", async () => {
    await signInWith({ max_age: "100" });
    await age(200);
    expect(await ask(at, { max_age: "100" })).toMatchObject({ isQuestion: true });
    await age(50);
    expect(await ask(at, { max_age: "100" })).toMatchObject(passes);
  });

  test.each(["-1", "abc", "1.5", "1e99", "99999999999999999999"])("S15 %s fails with invalid_request", async (max_age) => {
    expect(await ask(at, { max_age })).toMatchObject(isRefused("invalid_request"));
  });
});

async function currentSession() {
  const row = await db().siteSession.findUniqueOrThrow({ where: { id: at.session.id } });
  return { ...at.session, authenticatedAt: row.authenticatedAt };
}

describe("another account signs in while a request waits", () => {
  test.each([
    ["prompt=login", { prompt: "login" }],
    ["prompt=select_account", { prompt: "select_account" }],
    ["max_age=0", { max_age: "0" }],
    ["no such parameter", {}],
  ])(
    "S34 with %s the request starts over, and asks the new account each question once",
    async (_, parameters: Record<string, string>) => {
      if (Object.keys(parameters).length > 0) await signInWith();
      const startedAt = Math.floor(Date.now() / 1000);
      const asked = await ask(at, parameters);
      const other = await world.user(`other-${at.person.username}`.slice(0, 30));
      await signInAgain(other);
      const step = await loginStep(at, asked, at.session);
      if (step.step !== "restart") throw new Error(step.step);
      const again = await resume(at, step.url);
      const question = await openInteraction(at, again);
      expect(question.request.scopes.map(({ scope }) => scope)).toEqual(["openid", "profile"]);
      const passed = await resume(at, await question.allow());
      expect(passed).toMatchObject(passes);
      expect(passed.answer.state).toBe("a state");
      if ("max_age" in parameters || parameters.prompt === "login") {
        expect(await authTimeOf(passed.answer.code)).toBeGreaterThanOrEqual(startedAt);
      }
      const consents = await db().oAuthConsent.findMany({ where: { clientId: at.app.clientId, userId: other.id } });
      expect(consents).toHaveLength(1);
    },
  );

  test("S15 prompt=login also applies to a user who signed in before the request", async () => {
    const other = await prepare(world);
    const asked = await ask(at, { prompt: "login" });
    const step = await loginStep(at, asked, other.session);
    if (step.step !== "restart") throw new Error(step.step);
    expect(new URL(step.url, world.origin).searchParams.get("prompt")).toBe("login");
  });
});

test("S54 a request for several resources keeps all of them when it starts over", async () => {
  const resources = [1, 2].map(() => `https://${newId()}.example`);
  for (const identifier of resources) await addResourceServer(operatorCommand, { identifier, name: "Harbour" }, noOrigin);
  const url = new URL(world.authorizeUrl(at.app, PKCE));
  for (const resource of resources) url.searchParams.append("resource", resource);
  const asked = await ask(at, [...url.searchParams]);
  await signInAgain(await world.user(`o-${at.person.username}`.slice(0, 30)));
  const step = await loginStep(at, asked, at.session);
  if (step.step !== "restart") throw new Error(step.step);
  expect(new URL(step.url, world.origin).searchParams.getAll("resource")).toEqual(resources);
  const question = await openInteraction(at, await resume(at, step.url));
  expect(question.request.resources.map(({ identifier }) => identifier).sort()).toEqual(resources.sort());
});

test("S34 a request without openid starts over without max_age", async () => {
  const asked = await ask(at, { prompt: "login", scope: "email" });
  await signInAgain(await world.user(`o-${at.person.username}`.slice(0, 30)));
  const step = await loginStep(at, asked, at.session);
  if (step.step !== "restart") throw new Error(step.step);
  const question = await openInteraction(at, await resume(at, step.url));
  expect(await resume(at, await question.allow())).toMatchObject(passes);
});

describe("prompt=consent", () => {
  test("asks about everything again, with the earlier answers ticked", async () => {
    const all = { scope: "openid profile email" };
    await world.signInWith(at.app, at.session, at.browser, all, { scopes: ["openid", "profile"] });
    expect(await ask(at, all)).toMatchObject(passes);
    const { request } = await openQuestion(at, { ...all, prompt: "consent" });
    expect(request.scopes.map(({ scope, isTicked }) => [scope, isTicked])).toEqual([
      ["openid", true],
      ["profile", true],
      ["email", false],
    ]);
  });

  test("together with login asks first for a sign-in, then for consent", async () => {
    await signInWith();
    const asked = await ask(at, { prompt: "consent login" });
    await signInAgain();
    const step = await loginStep(at, asked, at.session);
    const consent = await resume(at, step.step === "continue" ? step.url : "");
    expect(consent.isQuestion).toBe(true);
    expect(await resume(at, await (await openInteraction(at, consent)).allow())).toMatchObject(passes);
  });
});

test("prompt=select_account shows the page that names the account and offers another (docs/decisions/013)", async () => {
  await signInWith();
  const question = await openQuestion(at, { prompt: "select_account" });
  expect(question.request.alreadyGranted.map(({ scope }) => scope)).toEqual(["openid", "profile"]);
  expect(await resume(at, await question.allow())).toMatchObject(passes);
});

test("login_hint reaches the sign-in page, and has no effect for a signed-in user", async () => {
  const browser = world.browser();
  const anonymous = await ask({ ...at, browser }, { login_hint: "mara@example.test" });
  expect(await loginStep({ browser }, anonymous, undefined)).toEqual({
    step: "sign-in",
    isRepeat: false,
    loginHint: "mara@example.test",
  });
  await signInWith();
  expect(await ask(at, { login_hint: "somebody-else@example.test" })).toMatchObject(passes);
});

describe("id_token_hint", () => {
  test("of another user fails with login_required or leads to the sign-in page", async () => {
    const mine = (await signInWith()).tokens.id_token ?? "";
    expect(await ask(at, { prompt: "none", id_token_hint: mine })).toMatchObject(passes);

    const first = at;
    await signInAgain(await world.user(`hint-${at.person.username}`.slice(0, 30)));
    await signInWith();
    expect(await ask(at, { prompt: "none" })).toMatchObject(passes);
    expect(await ask(at, { prompt: "none", id_token_hint: mine })).toMatchObject(isRefused("login_required"));

    const asked = await ask(at, { id_token_hint: mine });
    expect(await loginStep(at, asked, at.session)).toMatchObject({ step: "sign-in", isRepeat: true, isOtherAccount: true });
    await signInAgain(first.person);
    const step = await loginStep(at, asked, at.session);
    if (step.step !== "restart") throw new Error(step.step);
    expect(await resume(at, step.url)).toMatchObject(passes);
  });

  test("that is not an ID token of this app fails with invalid_request", async () => {
    const other = await prepare(world, { isConfidential: true });
    const { tokens } = await world.signInWith(other.app, other.session, other.browser);
    for (const id_token_hint of ["x", "a.b.c", tokens.id_token]) {
      expect(await ask(at, { id_token_hint })).toMatchObject(isRefused("invalid_request"));
    }
  });
});
