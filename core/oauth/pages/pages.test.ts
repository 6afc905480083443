import { hash } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { ask, openQuestion, resume } from "../testing/authorization.ts";
import { type Prepared, prepare } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";
import { errorPage } from "./error-page.ts";

const world = await startWorld();
const at = await prepare(world, { isConfidential: true });
afterAll(() => world.stop());

const evil = "https://evil.example/<script>alert(1)</script>\"'";
const SENT = "<code>https://evil.example/&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;</code>";

const pages: [string, () => Promise<Response>][] = [
  ["an unknown client", () => visit({ client_id: newId() })],
  ["a foreign redirect URI", () => visit({ redirect_uri: evil })],
  ["a request that is not even read", () => visit({ state: "a\0b" })],
  ["an interaction that has expired", () => at.browser.fetch("/oauth/authorize/aaaaaaaaaaaaaaaaaaaaa")],
  ["form_post with an error", () => visit({ response_mode: "form_post", prompt: "none", scope: "openid email" })],
  ["the question at sign-out", () => at.browser.fetch("/oauth/logout")],
  ["signed out", () => at.browser.fetch("/oauth/logout/success")],
];
const visit = (parameters: Record<string, string>) => at.browser.fetch(world.authorizeUrl(at.app, { ...pkce, ...parameters }));
const pkce = { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" };

const directivesOf = (response: Response) =>
  Object.fromEntries(
    (response.headers.get("content-security-policy") ?? "").split(";").map((directive) => {
      const [name = "", ...values] = directive.trim().split(/\s+/);
      return [name, values];
    }),
  );
const sha = (text = "") => `'sha256-${hash("sha256", text, "base64")}'`;

describe.each(pages)("%s", (_, load) => {
  test("S23 forbids framing, referrers and caching", async () => {
    const response = await load();
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(directivesOf(response)).toMatchObject({
      "frame-ancestors": ["'none'"],
      "default-src": ["'none'"],
      "base-uri": ["'none'"],
    });
    expect(response.headers.get("x-frame-options")).toBe("DENY");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("S24 loads only its own style", async () => {
    const response = await load();
    const page = await response.text();
    expect(page).not.toMatch(/<(?:img|link|iframe|object|embed|video|audio|base)\b|\bsrc\s*=|url\(|@import|\son\w+\s*=/i);
    const policy = directivesOf(response);
    const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script]) => sha(script));
    expect(policy["script-src"]).toEqual(scripts);
    const styles = [...page.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style]) => sha(style));
    for (const style of styles) expect(policy["style-src"]).toEqual([style]);
  });

  test("S20 links only to the service's own pages and the app's registered URI", async () => {
    const page = await (await load()).text();
    const addresses = [...page.matchAll(/\b(?:href|action)\s*=\s*"([^"]*)"/g)].map(([, address = ""]) => address);
    const settings = `${world.origin}/settings/applications/${at.app.id}`;
    const own = [settings, `${world.origin}/`, `${world.origin}/login`, `${world.origin}/oauth/logout/confirm`, REDIRECT_URI];
    for (const address of addresses) expect(own).toContain(address);
    expect(page).not.toContain("<script>alert");
  });
});

describe("a redirect URI that is not registered", () => {
  test("S20 the app's owner sees the sent URI and the registered ones as text", async () => {
    const { page } = await ask(at, { redirect_uri: evil });
    expect(page).toContain("redirect URI is not registered");
    expect(page).toContain(SENT);
    expect(page).toContain(`<code>${REDIRECT_URI}</code>`);
    expect(page).toContain(`href="${world.origin}/settings/applications/${at.app.id}"`);
  });

  test("S20 users who do not manage the app see no registered URI", async () => {
    const visitors = [world.browser(), (await prepare(world)).browser];
    for (const browser of visitors) {
      const { page } = await ask({ ...at, browser }, { redirect_uri: evil });
      expect(page).toContain(SENT);
      expect(page).toMatch(/<dt>App<\/dt><dd><code>[^<]+<\/code><\/dd>/);
      expect(page).not.toContain(REDIRECT_URI);
      expect(page).not.toContain("/settings/applications/");
      expect(page).toContain("invalid_redirect_uri: Percent-encode the characters");
      const plain = await ask({ ...at, browser }, { redirect_uri: "http://app.example.test/callback" });
      expect(plain.page).toContain("invalid_redirect_uri: Use https");
      const other = await ask({ ...at, browser }, { redirect_uri: "https://app.example.test/other" });
      expect(other.page).toContain("invalid_redirect_uri: redirect_uri did not match");
    }
  });

  test("S20 only administrators see the registered URIs of an organization's app", async () => {
    const [admin, member] = [await prepare(world), await prepare(world)];
    const orgId = await world.organization(`o-${newId()}`, { [admin.person.id]: "admin", [member.person.id]: "write" });
    await db().oAuthApp.update({ where: { id: admin.app.id }, data: { ownerUserId: null, ownerOrgId: orgId } });
    const seen = async (visitor: Prepared) =>
      (await ask({ ...visitor, app: admin.app }, { redirect_uri: evil })).page.match(
        /\/organizations\/o-\w+\/settings\/applications\/\w+/,
      )?.[0];
    expect(await seen(admin)).toContain(admin.app.id);
    expect(await seen(member)).toBeUndefined();
  });

  test("unprintable characters are shown as visible replacements", async () => {
    const { page } = await ask(at, { redirect_uri: `${REDIRECT_URI}\u202e\u200b` });
    expect(page).toContain(`<code>${REDIRECT_URI}\ufffd\ufffd</code>`);
  });
});

test("S23 names of parameters, apps and errors are shown as text", async () => {
  const hostile = `"><img src=x onerror=alert(1)>`;
  for (const name of [
    "client_id",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
    "prompt",
    "response_mode",
    "login_hint",
    hostile,
  ]) {
    const { page } = await ask({ ...at, browser: world.browser() }, { redirect_uri: "https://evil.example/", [name]: hostile });
    expect(page).not.toContain("<img");
  }
  expect(errorPage({ error: hostile, description: hostile, facts: [["App", hostile]], settings: hostile })).not.toContain("<img");
  for (const error of ["constructor", "__proto__", "toString"]) {
    expect(errorPage({ error })).toContain("<h1>Invalid sign-in link</h1>");
    expect(errorPage({ error, isSignOut: true })).toContain("<h1>Invalid sign-out link</h1>");
  }
});

test("S28 the name of an app is shown as text at sign-out", async () => {
  const named = await prepare(world, { name: "<i>Lantern</i>" });
  await world.signInWith(named.app, named.session, named.browser);
  const response = await named.browser.fetch(`/oauth/logout?client_id=${named.app.clientId}`);
  const page = await response.text();
  expect(page).toContain("&#60;i&#62;Lantern&#60;/i&#62;");
  expect(page).not.toContain("<i>");
});

test("an expired question shows that it has expired, even if it was answered", async () => {
  const question = await openQuestion(at, { prompt: "consent" });
  const url = await question.allow();
  await resume(at, url);
  const { status, page } = await resume(at, url);
  expect(status).toBe(400);
  expect(page).toContain("<h1>This sign-in has expired</h1>");
});
