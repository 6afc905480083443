import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { createApp } from "../apps/create-app.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { denyConsent } from "../consents/grant-consent.ts";
import { ask, openQuestion, PKCE, resume } from "../testing/authorization.ts";
import { type Prepared, prepare } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

async function appWith(...redirectUris: string[]): Promise<Prepared> {
  const at = await prepare(world, { isConfidential: true });
  await db().oAuthApp.update({ where: { id: at.app.id }, data: { redirectUris } });
  return at;
}

const attempts = [
  {},
  { prompt: "none" },
  { response_type: "token" },
  { scope: "openid jobs" },
  { request: "x" },
  { max_age: "-1" },
];

async function expectNoRedirect(at: Prepared, redirect_uri: string): Promise<void> {
  for (const parameters of attempts) {
    const outcome = await ask(at, { ...parameters, redirect_uri });
    expect(outcome, `${redirect_uri} ${JSON.stringify(parameters)}`).toMatchObject({ status: 400, location: undefined });
    expect(outcome.page).not.toMatch(/http-equiv|<script|<form/i);
    expect(hrefs(outcome.page).filter((address) => !address?.startsWith(`${world.origin}/`))).toEqual([]);
  }
}

const hrefs = (page: string) => [...page.matchAll(/(?:href|src|action)\s*=\s*"([^"]*)"/g)].map(([, address]) => address);

async function expectRedirect(at: Prepared, redirect_uri: string): Promise<void> {
  const { status, location } = await ask(at, { redirect_uri, prompt: "none" });
  expect(status).toBe(303);
  expect(`${location?.href.split(/[?&]error=/)[0]}`).toBe(new URL(redirect_uri).href);
  expect(location?.searchParams.get("error")).toBe("consent_required");
}

const REGISTERED = "https://app.example.test/cb/Path?a=1";

describe("S2 a redirect_uri that is not byte for byte equal to a registered one", () => {
  let at: Prepared;
  beforeAll(async () => {
    at = await appWith(REGISTERED, "https://app.example.test/cb");
  });

  test("S2 is refused, whereas a registered one with a query is used", async () => {
    await expectRedirect(at, REGISTERED);
    await expectRedirect(at, "https://app.example.test/cb");
  });

  test.each([
    ["another case in the path", "https://app.example.test/cb/path?a=1"],
    ["another case in the host", "https://APP.example.test/cb/Path?a=1"],
    ["another case in the scheme", "HTTPS://app.example.test/cb/Path?a=1"],
    ["a trailing slash", "https://app.example.test/cb/"],
    ["no query", "https://app.example.test/cb/Path"],
    ["more query", `${REGISTERED}&b=2`],
    ["an empty query", "https://app.example.test/cb?"],
    ["an encoded character", "https://app.example.test/%63b"],
    ["an encoded slash", "https://app.example.test%2fcb"],
    ["dot segments", "https://app.example.test/x/../cb"],
    ["encoded dot segments", "https://app.example.test/x/%2e%2e/cb"],
    ["a backslash", "https://app.example.test\\cb"],
    ["userinfo", "https://app.example.test@evil.example/cb"],
    ["userinfo before the host", "https://user:pass@app.example.test/cb"],
    ["a fragment", "https://app.example.test/cb#x"],
    ["an empty fragment", "https://app.example.test/cb#"],
    ["the default port", "https://app.example.test:443/cb"],
    ["another port", "https://app.example.test:8443/cb"],
    ["a sub-domain", "https://a.app.example.test/cb"],
    ["a longer host", "https://app.example.test.evil.example/cb"],
    ["a trailing dot", "https://app.example.test./cb"],
    ["http", "http://app.example.test/cb"],
    ["no scheme", "//app.example.test/cb"],
    ["a path alone", "/cb"],
    ["a trailing space", "https://app.example.test/cb "],
    ["a tab in front", "\thttps://app.example.test/cb"],
    ["a line break", "https://app.example.test/cb\n"],
    ["two URIs", "https://app.example.test/cb https://app.example.test/cb"],
    ["another host", "https://evil.example/cb"],
  ])("S2 with %s leads to an error page", (_, uri) => expectNoRedirect(at, uri));
});

describe("S4 a loopback redirect URI", () => {
  let at: Prepared;
  const uris = ["http://127.0.0.1/cb", "http://[::1]:7000/cb", "http://localhost:3333/cb?x=1"];
  beforeAll(async () => {
    at = await appWith(...uris);
  });

  test.each([
    "http://127.0.0.1/cb",
    "http://127.0.0.1:49152/cb",
    "http://[::1]:1/cb",
    "http://[::1]/cb",
    "http://localhost:65535/cb?x=1",
  ])("S4 matches on any port: %s", (uri) => expectRedirect(at, uri));

  test.each([
    "http://localhost/cb",
    "http://127.0.0.1:49152/other",
    "http://127.0.0.1:49152/cb/",
    "http://127.0.0.1:49152/cb?x=1",
    "http://127.0.0.2/cb",
    "http://127.1/cb",
    "http://2130706433/cb",
    "http://0x7f.0.0.1/cb",
    "http://[::ffff:127.0.0.1]/cb",
    "http://[0:0:0:0:0:0:0:1]/cb",
    "http://localhost.evil.example:1/cb?x=1",
    "http://localhost:1@evil.example/cb?x=1",
    "http://127.0.0.1:99999/cb",
    "http://127.0.0.1:/cb",
    "https://127.0.0.1:8443/cb",
    "https://localhost:8443/cb?x=1",
  ])("S4 does not match if anything but the port differs: %s", (uri) => expectNoRedirect(at, uri));

  test("S4 works for confidential and public apps, and the code is bound to the port", async () => {
    const open = await prepare(world, { redirectUris: ["http://127.0.0.1/cb"] });
    const done = await world.signInWith(open.app, open.session, open.browser, { redirect_uri: "http://127.0.0.1:50001/cb" });
    expect(done.tokens.access_token).toBeTruthy();
    const url = world.authorizeUrl(open.app, { ...PKCE, redirect_uri: "http://127.0.0.1:50001/cb" });
    const landed = await world.follow(open.browser, url, open.session);
    const response = await world.post("/oauth/token", {
      grant_type: "authorization_code",
      client_id: open.app.clientId,
      code: (landed instanceof URL && landed.searchParams.get("code")) || "",
      code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      redirect_uri: "http://127.0.0.1:50002/cb",
    });
    expect(await response.json()).toMatchObject({ error: "invalid_grant" });
  });

  test("S4 matches on any port only with http", async () => {
    const secure = await appWith("https://localhost:8443/cb");
    await expectRedirect(secure, "https://localhost:8443/cb");
    await expectNoRedirect(secure, "https://localhost:8444/cb");
  });
});

const register = (uri: string) => async () => {
  const { person } = await prepare(world);
  const scopes = ["openid"];
  return createApp(
    operatorCommand,
    { name: "Paper Lantern", scopes, redirectUris: [uri], owner: { userId: person.id } },
    noOrigin,
  );
};

const scripts = [
  "javascript:alert(1)",
  "javascript://app.example.test/%0aalert(1)",
  "JavaScript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "data:text/html;base64,PHNjcmlwdD4=",
  "vbscript:msgbox(1)",
  "file:///etc/passwd",
  "blob:https://app.example.test/1",
  "filesystem:https://app.example.test/1",
  "view-source:https://app.example.test/cb",
  "about:blank",
];

describe.each(scripts)("S5 %s", (uri) => {
  test("S5 is refused at registration", async () => {
    await expect(register(uri)()).rejects.toMatchObject({ code: "invalid_request", field: "redirectUris" });
  });
  test("S5 is refused at use, even if it is registered", async () => expectNoRedirect(await appWith(uri), uri));
});

const plainHttp = [
  "http://app.example.test/cb",
  "http://10.0.0.1/cb",
  "http://127.0.0.1.evil.example/cb",
  "http://localhost.evil.example/cb",
  "http://127.1/cb",
];

describe.each(plainHttp)("S6 %s", (uri) => {
  test("S6 is refused at registration", async () => {
    await expect(register(uri)()).rejects.toMatchObject({ code: "invalid_request", field: "redirectUris" });
  });
  test("S6 is refused at use, even if it is registered", async () => expectNoRedirect(await appWith(uri), uri));
});

describe("S20 the service's own host as a redirect URI", () => {
  test("S20 is refused under each of the service's names", async () => {
    const { port } = new URL(world.origin);
    const own = [`${world.origin}/login`, `http://127.0.0.1:${port}/cb`, `http://[::1]:${port}/oauth/authorize`];
    for (const uri of own) {
      await expect(register(uri)()).rejects.toMatchObject({ code: "invalid_request", field: "redirectUris" });
      await expectNoRedirect(await appWith(uri), uri);
    }
  });

  test("S20 is refused even if a loopback redirect URI with another port is registered", async () => {
    const { port } = new URL(world.origin);
    const at = await appWith("http://localhost/login");
    await expectRedirect(at, "http://localhost:1/login");
    await expectNoRedirect(at, `http://localhost:${port}/login`);
  });
});

test("S20 an error before the check of the redirect URI stays on an error page", async () => {
  const at = await appWith("https://app.example.test/cb");
  const evil = "https://evil.example/cb";
  const early = [
    { state: undefined },
    { code_challenge: undefined },
    { response_mode: "form_post" },
    { response_mode: "banana" },
  ];
  for (const parameters of early) {
    expect(await ask(at, { ...parameters, redirect_uri: evil })).toMatchObject({ status: 400, location: undefined });
  }
  const twice: [string, string][] = [
    ["client_id", at.app.clientId],
    ["redirect_uri", evil],
    ["state", "a"],
    ["state", "b"],
  ];
  expect(await ask(at, twice)).toMatchObject({ status: 400, location: undefined });
  expect(await ask(at, twice, "POST")).toMatchObject({ status: 400, location: undefined });
});

describe("S20 a redirect URI that is removed while the user reads the question", () => {
  async function removed() {
    const at = await prepare(world, { redirectUris: ["https://app.example.test/cb", "https://app.example.test/other"] });
    const question = await openQuestion(at, { redirect_uri: "https://app.example.test/cb" });
    return { at, question };
  }

  async function remove({ app }: Prepared): Promise<void> {
    await db().oAuthApp.update({ where: { id: app.id }, data: { redirectUris: ["https://app.example.test/other"] } });
    await db().$executeRaw`SELECT pg_notify('oauth_app', ${app.clientId})`;
    await expect.poll(async () => (await findClientMetadata(app.clientId))?.redirect_uris).toHaveLength(1);
  }

  test("S20 receives no code", async () => {
    const { at, question } = await removed();
    const url = await question.allow();
    await remove(at);
    expect(await resume(at, url)).toMatchObject({ status: 400, location: undefined });
  });

  test("S20 receives no error", async () => {
    const { at, question } = await removed();
    const url = await denyConsent(question.at, at.session, noOrigin);
    await remove(at);
    expect(await resume(at, url)).toMatchObject({ status: 400, location: undefined });
  });

  test("S20 invalidates the question", async () => {
    const { at, question } = await removed();
    await remove(at);
    await expect(question.allow()).rejects.toMatchObject({ code: "gone" });
  });
});
