import { afterAll, describe, expect, test } from "vitest";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { db, pool } from "#core/db.ts";
import { rotateSigningKeys } from "../signing-keys.ts";
import type { Browser } from "../testing/browser.ts";
import { refresh, type SignIn, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const LOGOUT = "/oauth/logout";
const RETURN = "https://app.example.test/signed-out";
const signInWithLogout = () => signIn(world, { isRefreshAllowed: true, postLogoutRedirectUris: [RETURN] });

const logoutUrl = (parameters: Record<string, string>) => `${LOGOUT}?${new URLSearchParams(parameters)}`;

async function ask(browser: Browser, parameters: Record<string, string>) {
  const page = await browser.fetch(logoutUrl(parameters));
  const html = await page.text();
  const xsrf = /name="xsrf" value="(\w+)"/.exec(html)?.[1] ?? "";
  const answer = (form: Record<string, string>) =>
    browser.fetch(`${LOGOUT}/confirm`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    });
  return {
    status: page.status,
    html,
    xsrf,
    signOut: () => answer({ xsrf, logout: "yes" }),
    stay: () => answer({ xsrf }),
    answer,
  };
}

const siteToken = (browser: Browser) =>
  new RegExp(`${siteSessionCookie().name}=([^;]+)`).exec(browser.cookieHeader("/"))?.[1] ?? "";

const isSignedIn = async (at: SignIn, token = siteToken(at.browser)) =>
  token !== "" && (await findSiteSession(token)) !== undefined;

describe("S108 RP-initiated logout", () => {
  test("asks first, and signs out of the site and the engine when the user agrees", async () => {
    const at = await signInWithLogout();
    const token = siteToken(at.browser);
    const question = await ask(at.browser, {
      id_token_hint: at.tokens.id_token,
      post_logout_redirect_uri: RETURN,
      state: "a state & more",
    });
    expect(question.status).toBe(200);
    expect(question.html).toContain("Paper Lantern");
    expect(await isSignedIn(at, token)).toBe(true);

    const done = await question.signOut();
    expect(done.status).toBe(303);
    const location = new URL(done.headers.get("location") ?? "");
    expect(location.origin + location.pathname).toBe(RETURN);
    expect([...location.searchParams]).toEqual([["state", "a state & more"]]);
    expect(await isSignedIn(at, token)).toBe(false);
    expect(siteToken(at.browser)).toBe("");

    const next = await world.follow(at.browser, world.authorizeUrl(at.app, challenge({ prompt: "none" })));
    expect((next as URL).searchParams.get("error")).toBe("login_required");
  });

  test("makes stolen cookies of both sessions invalid", async () => {
    const at = await signInWithLogout();
    const thief = world.browser();
    for (const pair of at.browser.cookieHeader("/oauth/authorize").split("; ")) {
      const cut = pair.indexOf("=");
      thief.setCookie(pair.slice(0, cut), pair.slice(cut + 1));
    }
    const before = await world.follow(thief, world.authorizeUrl(at.app, challenge({ prompt: "none" })));
    expect((before as URL).searchParams.get("error")).not.toBe("login_required");
    await (await ask(at.browser, {})).signOut();
    const next = await world.follow(thief, world.authorizeUrl(at.app, challenge({ prompt: "none" })));
    expect((next as URL).searchParams.get("error")).toBe("login_required");
  });

  test("changes nothing if the user declines", async () => {
    const at = await signInWithLogout();
    const question = await ask(at.browser, { client_id: at.app.clientId });
    const answer = await question.stay();
    expect(answer.status).toBe(303);
    expect(await isSignedIn(at)).toBe(true);
  });

  test("does not end the apps' tokens", async () => {
    const at = await signInWithLogout();
    await (await ask(at.browser, { id_token_hint: at.tokens.id_token })).signOut();
    expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
    expect(await refresh(at, at.tokens.refresh_token)).toMatchObject({ status: 200 });
  });

  test("without a post_logout_redirect_uri ends on a page of this service", async () => {
    const at = await signInWithLogout();
    const done = await (await ask(at.browser, {})).signOut();
    const location = new URL(done.headers.get("location") ?? "");
    expect(location.href).toBe(`${world.origin}${LOGOUT}/success`);
    const page = await at.browser.fetch(location.href);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("You are signed out");
  });

  test("without a signed-in user redirects without a question", async () => {
    const at = await signInWithLogout();
    const back = { id_token_hint: at.tokens.id_token, post_logout_redirect_uri: RETURN };
    for (const [parameters, destination] of [
      [back, RETURN],
      [{ ...back, state: "a state & more" }, `${RETURN}?state=a+state+%26+more`],
      [{ state: "to nobody" }, `${world.origin}${LOGOUT}/success`],
    ] as const) {
      const answer = await world.browser().fetch(logoutUrl(parameters));
      expect([answer.status, answer.headers.get("location")]).toEqual([303, destination]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(await isSignedIn(at)).toBe(true);
  });

  test("also asks a user who has never used an app in this browser", async () => {
    const person = await world.user("never-used-an-app");
    const browser = world.browser();
    await world.signIn(browser, person);
    const token = siteToken(browser);
    const question = await ask(browser, {});
    expect(question.html).toContain("Stay signed in");
    expect(question.html).not.toContain("<script");
    await question.stay();
    expect(await findSiteSession(token)).toBeDefined();
    await (await ask(browser, {})).signOut();
    expect(await findSiteSession(token)).toBeUndefined();
  });
});

describe("S108 an unregistered post_logout_redirect_uri is never followed", () => {
  const foreign = [
    "https://evil.example/",
    `${RETURN}/`,
    `${RETURN}?x=1`,
    RETURN.replace("https", "http"),
    "https://app.example.test/callback",
    "javascript:alert(1)",
    "//evil.example",
    "",
  ];

  test.each(foreign)("%j", async (post_logout_redirect_uri) => {
    const at = await signInWithLogout();
    for (const from of [{ client_id: at.app.clientId }, { id_token_hint: at.tokens.id_token }, {}] as Record<string, string>[]) {
      const question = await ask(at.browser, { ...from, post_logout_redirect_uri });
      if (question.status === 200) {
        const location = (await question.stay()).headers.get("location") ?? "";
        expect(new URL(location).origin).toBe(world.origin);
      } else {
        expect(question.status).toBe(400);
        // The page must not link to the URI either (S20).
        expect(question.html).not.toContain('href="https://evil');
      }
    }
    expect(await isSignedIn(at)).toBe(true);
  });

  test("of another app is refused", async () => {
    const [at, other] = [await signIn(world), await signInWithLogout()];
    expect(other.app.clientId).not.toBe(at.app.clientId);
    const question = await ask(at.browser, { client_id: at.app.clientId, post_logout_redirect_uri: RETURN });
    expect(question.status).toBe(400);
  });
});

describe("S108 id_token_hint", () => {
  test.each([
    ["not a JWT", () => "x.y.z"],
    ["a tampered one", (jwt: string) => `${jwt.slice(0, -8)}AAAAAAAA`],
    ["one without a signature", (jwt: string) => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${jwt.split(".")[1]}.`],
  ])("that is %s fails with 400", async (_, forge) => {
    const at = await signInWithLogout();
    const question = await ask(at.browser, { id_token_hint: forge(at.tokens.id_token), post_logout_redirect_uri: RETURN });
    expect(question.status).toBe(400);
    expect(await isSignedIn(at)).toBe(true);
  });

  test.each(["RS256", "ES256"])("that was signed (%s) with a retired key is valid", async (idTokenAlg) => {
    const at = await signIn(world, { postLogoutRedirectUris: [RETURN] });
    await db().oAuthApp.update({ where: { id: at.app.id }, data: { idTokenAlg } });
    await pool().query("SELECT pg_notify('oauth_app', $1)", [at.app.clientId]);
    const algOf = async () => {
      const { tokens } = await world.signInWith(at.app, at.session, at.browser);
      const [head = ""] = tokens.id_token?.split(".") ?? [];
      return { jwt: tokens.id_token ?? "", ...JSON.parse(Buffer.from(head, "base64url").toString()) };
    };
    await expect.poll(async () => (await algOf()).alg).toBe(idTokenAlg);
    const { jwt, kid } = await algOf();
    await rotateSigningKeys();
    await pool().query("UPDATE signing_key SET active_at = now() WHERE active_at > now()");
    await pool().query("UPDATE signing_key SET retired_at = now() WHERE retired_at IS NOT NULL");
    await pool().query("NOTIFY signing_key");
    const kids = async () =>
      (await (await fetch(`${world.origin}/oauth/jwks`)).json()).keys.map((key: { kid: string }) => key.kid);
    await expect.poll(kids).not.toContain(kid);

    const question = await ask(at.browser, { id_token_hint: jwt, post_logout_redirect_uri: RETURN });
    expect(question.status).toBe(200);
    expect((await question.signOut()).headers.get("location")).toBe(RETURN);
    const tampered = await ask(at.browser, { id_token_hint: `${jwt.slice(0, -8)}AAAAAAAA` });
    expect(tampered.status).toBe(400);
    const [other] = [await signInWithLogout()];
    const [head, , signature] = jwt.split(".");
    const moved = [head, other.tokens.id_token.split(".")[1], signature].join(".");
    expect((await ask(at.browser, { id_token_hint: moved })).status).toBe(400);
  });

  test("that was signed with a leaked key fails with 400", async () => {
    const at = await signInWithLogout();
    await rotateSigningKeys({ isImmediate: true });
    const sent = { id_token_hint: at.tokens.id_token, post_logout_redirect_uri: RETURN };
    await expect.poll(async () => (await ask(at.browser, sent)).status).toBe(400);
    expect(await isSignedIn(at)).toBe(true);
  });

  test("of an app that does not exist fails with 400", async () => {
    const browser = world.browser();
    const payload = Buffer.from(JSON.stringify({ iss: world.origin, aud: "nobody", sub: "x" })).toString("base64url");
    const unknown: Record<string, string>[] = [{ id_token_hint: `eyJhbGciOiJIUzI1NiJ9.${payload}.x` }, { client_id: "nobody" }];
    for (const parameters of unknown) {
      const response = await browser.fetch(logoutUrl(parameters));
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("<h1>Invalid sign-out link</h1>");
    }
  });

  test("that does not match client_id fails with 400", async () => {
    const [at, other] = [await signInWithLogout(), await signInWithLogout()];
    const question = await ask(at.browser, { id_token_hint: at.tokens.id_token, client_id: other.app.clientId });
    expect(question.status).toBe(400);
  });
});

describe("S108 logout CSRF", () => {
  test("a GET request never signs anybody out", async () => {
    const at = await signInWithLogout();
    for (const extra of [{ logout: "yes" }, { logout: "yes", xsrf: "" }] as Record<string, string>[]) {
      await at.browser.fetch(logoutUrl({ id_token_hint: at.tokens.id_token, ...extra }));
    }
    expect((await at.browser.fetch(`${LOGOUT}/confirm?logout=yes`)).status).toBe(405);
    expect(await isSignedIn(at)).toBe(true);
  });

  test.each([
    ["without the page's secret", () => ""],
    ["with a made-up one", () => "a".repeat(48)],
    ["with another browser's", (other: string) => other],
  ])("a confirmation %s is refused", async (_, secret) => {
    const [at, attacker] = [await signInWithLogout(), await signInWithLogout()];
    const theirs = await ask(attacker.browser, {});
    const question = await ask(at.browser, {});
    const refused = await question.answer({ xsrf: secret(theirs.xsrf), logout: "yes" });
    expect(refused.status).toBe(400);
    expect(await isSignedIn(at)).toBe(true);
  });

  test("a confirmation without a question is refused", async () => {
    const at = await signInWithLogout();
    const response = await at.browser.fetch(`${LOGOUT}/confirm`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "logout=yes",
    });
    expect(response.status).toBe(400);
    expect(await isSignedIn(at)).toBe(true);
  });

  test("a second confirmation is refused", async () => {
    const at = await signInWithLogout();
    const question = await ask(at.browser, {});
    expect((await question.signOut()).status).toBe(303);
    expect((await question.signOut()).status).toBe(400);
  });
});

function challenge(extra: Record<string, string>): Record<string, string> {
  return { code_challenge: "x".repeat(43), code_challenge_method: "S256", ...extra };
}
