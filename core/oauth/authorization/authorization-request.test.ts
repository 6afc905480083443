import { afterAll, beforeEach, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { ask, openInteraction, openQuestion, PKCE, resume } from "../testing/authorization.ts";
import { type Prepared, prepare, signIn } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";
import { findAnsweredUrl, readInteraction } from "./interaction.ts";

let at: Prepared;
const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  at = await prepare(world, { isConfidential: true });
});

const notRedirected = { status: 400, location: undefined };
const redirected = { status: 303, isQuestion: false };

test("S1 an unknown client_id leads to an error page with status 400, and no redirect", async () => {
  const unknown = await ask(at, { client_id: "aaaaaaaa-0000-4000-8000-000000000000" });
  expect(unknown).toMatchObject(notRedirected);
  expect(unknown.headers.get("content-type")).toMatch(/^text\/html/);
  expect(unknown.page).toContain("Unknown app");
  expect(await ask(at, { client_id: undefined })).toMatchObject(notRedirected);
  expect(await ask(at, { client_id: "a\0b" })).toMatchObject(notRedirected);
  expect(await ask(at, { client_id: "x".repeat(3000) })).toMatchObject(notRedirected);
});

test("S1 a blocked app gets the same response as an unknown one", async () => {
  await db().oAuthApp.update({ where: { id: at.app.id }, data: { blockedAt: new Date() } });
  expect(await ask(at)).toMatchObject(notRedirected);
});

test("S3 a request without redirect_uri to an app with several redirect URIs gets an error page", async () => {
  const several = await prepare(world, { redirectUris: [REDIRECT_URI, "https://app.example.test/other"] });
  expect(await ask(several, { redirect_uri: undefined })).toMatchObject(notRedirected);
  expect(await ask(several, { redirect_uri: "" })).toMatchObject(notRedirected);
  expect(await ask(several, { redirect_uri: undefined, prompt: "none" })).toMatchObject(notRedirected);
});

test("S3 a request without redirect_uri is answered at the app's only redirect URI (RFC 6749 §3.1.2.3)", async () => {
  const { status, location } = await ask(at, { redirect_uri: undefined, prompt: "none" });
  expect(status).toBe(303);
  expect(location?.href.startsWith(`${REDIRECT_URI}?`)).toBe(true);
});

test("S3 an app without any redirect URI gets no code", async () => {
  const device = await prepare(world, { redirectUris: [], isDeviceFlowAllowed: true });
  expect(await ask(device)).toMatchObject(notRedirected);
  expect(await ask(device, { redirect_uri: undefined })).toMatchObject(notRedirected);
});

test("S7 a missing response_type fails with invalid_request at the redirect URI", async () => {
  expect(await ask(at, { response_type: undefined })).toMatchObject({ ...redirected, answer: { error: "invalid_request" } });
});

test.each(["token", "id_token", "id_token token", "code token", "code id_token", "code id_token token", "none", "banana"])(
  "S7 response_type=%s fails with unsupported_response_type at the redirect URI",
  async (response_type) => {
    const outcome = await ask(at, { response_type, nonce: "n" });
    expect(outcome).toMatchObject({ ...redirected, answer: { error: "unsupported_response_type", state: "a state" } });
    expect(outcome.location?.href.startsWith(REDIRECT_URI)).toBe(true);
  },
);

test("S8 a public app must send a code_challenge", async () => {
  const open = await prepare(world);
  const without = await ask(open, { code_challenge: undefined, code_challenge_method: undefined });
  expect(without).toMatchObject({ ...redirected, answer: { error: "invalid_request" } });
});

test("S8 a public app must send a code_challenge even if its PKCE setting is off", async () => {
  const open = await prepare(world);
  await db().oAuthApp.update({ where: { id: open.app.id }, data: { isPkceRequired: false } });
  const without = await ask(open, { code_challenge: undefined, code_challenge_method: undefined });
  expect(without.answer).toMatchObject({ error: "invalid_request" });
});

test("S8 a confidential app must send a code_challenge until its owner turns the PKCE setting off", async () => {
  const without = { code_challenge: undefined, code_challenge_method: undefined };
  expect((await ask(at, without)).answer).toMatchObject({ error: "invalid_request" });

  const old = await prepare(world, { isConfidential: true, isPkceRequired: false });
  const landed = await world.follow(old.browser, world.authorizeUrl(old.app, {}), old.session);
  const code = landed instanceof URL ? landed.searchParams.get("code") : undefined;
  const response = await world.post(
    "/oauth/token",
    { grant_type: "authorization_code", code: code ?? "", redirect_uri: REDIRECT_URI },
    { authorization: world.basic(old.app.clientId, old.app.secret ?? "") },
  );
  expect(response.status).toBe(200);
});

test("S9 a method other than S256, no method, and a method without a challenge fail with invalid_request", async () => {
  const methods = [
    { code_challenge_method: "plain" },
    { code_challenge_method: undefined },
    { code_challenge_method: "s256" },
    { code_challenge: undefined },
  ];
  for (const parameters of methods) {
    expect(await ask(at, parameters)).toMatchObject({ ...redirected, answer: { error: "invalid_request", state: "a state" } });
  }
});

test.each([
  ["shorter than 43 characters", "a".repeat(42)],
  ["longer than a hash", "a".repeat(44)],
  ["of 129 characters", "a".repeat(129)],
  ["with padding", `${"a".repeat(42)}=`],
  ["in plain base64", `${"a".repeat(41)}+/`],
  ["with characters of a verifier", `${"a".repeat(41)}~.`],
])("S10 a code_challenge %s fails with invalid_request", async (_, code_challenge) => {
  expect(await ask(at, { code_challenge })).toMatchObject({ ...redirected, answer: { error: "invalid_request" } });
});

const usual = () => ({
  client_id: at.app.clientId,
  redirect_uri: REDIRECT_URI,
  response_type: "code",
  scope: "openid profile",
  state: "a state",
  ...PKCE,
});

test.each([
  "response_type",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "nonce",
  "prompt",
  "login_hint",
  "max_age",
  "utm_source",
])("S11 a repeated %s fails with invalid_request at the redirect URI", async (name) => {
  const value = (usual() as Record<string, string>)[name] ?? "1";
  const once = Object.entries(usual()).filter(([each]) => each !== name);
  const twice: [string, string][] = [...once, [name, value], [name, value]];
  for (const method of ["GET", "POST"] as const) {
    const outcome = await ask(at, twice, method);
    expect(outcome).toMatchObject({ ...redirected, answer: { error: "invalid_request" } });
    expect(outcome.location?.href.startsWith(`${REDIRECT_URI}?`)).toBe(true);
  }
});

test("S11 a repeated client_id gets an error page, and a repeated redirect_uri is ignored", async () => {
  const twice = (name: string, value: string): [string, string][] => [...Object.entries(usual()), [name, value]];
  expect(await ask(at, twice("client_id", at.app.clientId))).toMatchObject(notRedirected);
  const stolen = await ask(at, twice("redirect_uri", "https://evil.example/cb"));
  expect(stolen.location?.href.startsWith(`${REDIRECT_URI}?error=invalid_request`)).toBe(true);
});

test("S11 an empty value counts as absent", async () => {
  const outcome = await ask(at, {
    state: "",
    nonce: "",
    max_age: "",
    prompt: "",
    login_hint: "",
    ui_locales: "",
    response_mode: "",
  });
  expect(outcome.isQuestion).toBe(true);
  expect((await ask(at, { response_type: "" })).answer).toMatchObject({ error: "invalid_request" });
  const denied = await ask(at, { state: "", prompt: "none" });
  expect(denied.answer).not.toHaveProperty("state");
});

test.each([
  ["a sentence with & = + % # ?", "a & b=c + d % e # f?g"],
  ["unicode", "Zürich – 東京 – 🔑 – \u202e"],
  ["control characters", "a\r\nSet-Cookie: b=c\tend"],
  ["JSON", JSON.stringify({ nonce: "…", redirectUri: "https://app.example.test/a?b=c" })],
  ["4 KB", "s".repeat(4096)],
])("S12 state with %s comes back exactly, in success and in error", async (_, state) => {
  const asked = [
    await ask(at, { state, prompt: "none" }),
    await ask(at, { state, prompt: "none" }, "POST"),
    await ask(at, { state, response_type: "token" }),
    await ask(at, { state, scope: "openid jobs" }),
  ];
  for (const { answer } of asked) expect(answer).toMatchObject({ error: expect.any(String), state });

  const landed = await world.follow(at.browser, world.authorizeUrl(at.app, { ...PKCE, state }), at.session);
  expect(landed instanceof URL && Object.fromEntries(landed.searchParams)).toEqual({
    code: expect.any(String),
    state,
    iss: world.origin,
  });
  const refused = await world.follow(at.browser, world.authorizeUrl(at.app, { ...PKCE, state, prompt: "consent" }), at.session, {
    decision: "deny",
  });
  expect(refused instanceof URL && refused.searchParams.get("state")).toBe(state);
});

test("S12 every response at the redirect URI contains iss (RFC 9207)", async () => {
  expect((await world.discover()).authorization_response_iss_parameter_supported).toBe(true);
  const errors = [
    { prompt: "none" },
    { scope: "openid jobs" },
    { request: "x" },
    { code_challenge: undefined },
    { prompt: "banana" },
  ];
  for (const parameters of errors) expect((await ask(at, parameters)).answer.iss).toBe(world.origin);
  const landed = await world.follow(at.browser, world.authorizeUrl(at.app, PKCE), at.session);
  expect(landed instanceof URL && landed.searchParams.get("iss")).toBe(world.origin);
  const refused = await world.follow(at.browser, world.authorizeUrl(at.app, { ...PKCE, prompt: "consent" }), at.session, {
    decision: "deny",
  });
  expect(refused instanceof URL && refused.searchParams.get("iss")).toBe(world.origin);
});

test("S13 every redirect has status 303, even after a form post", async () => {
  const asked = await ask(at, {}, "POST");
  expect(asked).toMatchObject({ status: 303, isQuestion: true });
  const question = await openInteraction(at, asked);
  expect(await resume(at, await question.allow())).toMatchObject({ status: 303, answer: { code: expect.any(String) } });
  for (const method of ["GET", "POST"] as const) {
    expect(await ask(at, {}, method)).toMatchObject({ status: 303, answer: { code: expect.any(String) } });
    expect(await ask(at, { response_type: "token" }, method)).toMatchObject({ status: 303, isQuestion: false });
  }
});

test("S16 the ID token contains nonce only if the request did", async () => {
  const nonceOf = (idToken: string) => JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()).nonce;
  const nonce = "n-0S6 \"_Wz' ü";
  expect(nonceOf((await signIn(world, {}, { nonce })).tokens.id_token)).toBe(nonce);
  expect(nonceOf((await signIn(world)).tokens.id_token)).toBeUndefined();
});

test("S17 a scope that the app has not configured fails with invalid_scope at the redirect URI", async () => {
  const outcome = await ask(at, { scope: "openid jobs" });
  expect(outcome).toMatchObject({ ...redirected, answer: { error: "invalid_scope", state: "a state", iss: world.origin } });
  expect((await ask(at, { scope: "foo bar" })).answer).toMatchObject({ error: "invalid_scope" });
  expect((await ask(at, { scope: 'openid "profile"' })).answer).toMatchObject({ error: "invalid_scope" });
});

test("S17 an unknown scope is ignored (OIDC Core §3.1.2.1)", async () => {
  const { tokens } = await signIn(world, {}, { scope: "openid profile read-mcp constructor __proto__" });
  expect(tokens.scope).toBe("openid profile");
});

test("S17 a request without scope is for the app's configured scopes", async () => {
  const done = await signIn(world, { scopes: ["openid", "email"] }, { scope: "" });
  expect(done.tokens.scope).toBe("openid email");
  expect(done.tokens).not.toHaveProperty("refresh_token");
});

test("S19 request and request_uri fail with their error codes", async () => {
  expect(await ask(at, { request: "eyJhbGciOiJub25lIn0.e30." })).toMatchObject({
    ...redirected,
    answer: { error: "request_not_supported" },
  });
  expect(await ask(at, { request_uri: "https://app.example.test/request.jwt" })).toMatchObject({
    ...redirected,
    answer: { error: "request_uri_not_supported", state: "a state" },
  });
  expect((await ask(at, { registration: "{}" })).answer).toMatchObject({ error: "registration_not_supported" });
  const metadata = (await world.discover()) as Record<string, unknown>;
  expect(metadata.request_uri_parameter_supported).toBe(false);
  expect(metadata.request_parameter_supported ?? false).toBe(false);
});

test("unused and unknown parameters have no effect", async () => {
  const extra = {
    ui_locales: "de fr-CA",
    display: "popup",
    acr_values: "urn:x",
    web_message_uri: "https://evil.example",
    "x-y": "z",
  };
  expect((await ask(at, extra)).isQuestion).toBe(true);
});

test("the claims parameter has no effect", async () => {
  const claims = JSON.stringify({ userinfo: { email: { essential: true } }, id_token: { email: null } });
  const { tokens } = await signIn(world, {}, { claims });
  const userinfo = await (await world.userinfo(tokens.access_token)).json();
  expect(userinfo).not.toHaveProperty("email");
  expect(JSON.parse(Buffer.from(tokens.id_token.split(".")[1] ?? "", "base64url").toString())).not.toHaveProperty("email");
  expect((await world.discover()).claims_parameter_supported).toBe(false);
});

test("S51 more than 100 parameters, broken UTF-8 and NUL get a page with a 4xx status", async () => {
  const many = (count: number): [string, string][] => [
    ...Object.entries(usual()),
    ...Array.from({ length: count - Object.keys(usual()).length }, (_, index): [string, string] => [`p${index}`, ""]),
  ];
  for (const method of ["GET", "POST"] as const) {
    expect((await ask(at, many(100), method)).isQuestion).toBe(true);
    expect(await ask(at, many(101), method)).toMatchObject(notRedirected);
  }
  expect(await ask(at, `${new URLSearchParams(usual())}&state=%ff`)).toMatchObject(notRedirected);
  expect(await ask(at, `${new URLSearchParams(usual())}&state=%E0%A4%A`)).toMatchObject(notRedirected);
  expect(await ask(at, { state: "a\0b" })).toMatchObject(notRedirected);
});

test("a POST with a body other than a form gets an error page", async () => {
  for (const type of ["application/json", "multipart/form-data; boundary=x", "text/plain"]) {
    const response = await at.browser.fetch("/oauth/authorize", {
      method: "POST",
      headers: { "content-type": type },
      body: "{}",
    });
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
  }
});

test("a user signs in to an app, which gets code, tokens and userinfo", async () => {
  const mara = await world.user("mara");
  const browser = world.browser();
  const session = await world.signIn(browser, mara);
  const app = await world.app(mara, { isConfidential: true });
  const { tokens } = await world.signInWith(
    app,
    session,
    browser,
    { scope: "openid profile email", nonce: "once" },
    { scopes: ["profile"] },
  );
  expect(tokens.token_type).toBe("bearer");
  expect(tokens.expires_in).toBe(28800);
  expect(tokens.access_token).toMatch(/^kh_oauth_[A-Za-z0-9_-]{43}$/);
  expect(tokens.scope).toBe("openid profile");
  const claims = await (await world.userinfo(tokens.access_token)).json();
  expect(claims).toMatchObject({ sub: mara.id, preferred_username: "mara", orgs: [], organizations: [] });
  expect(claims).not.toHaveProperty("email");
});

test("after a second press of the button, the browser continues at the URL of the first answer", async () => {
  const prepared = await prepare(world);
  const { at, allow } = await openQuestion(prepared);
  expect(await findAnsweredUrl(at)).toBeUndefined();
  const url = await allow();
  await expect(readInteraction(at)).rejects.toMatchObject({ code: "gone" });
  expect(await findAnsweredUrl(at)).toBe(url);
  await resume(prepared, url);
  expect(await findAnsweredUrl(at)).toBeUndefined();
});

test("S25 the URL after an answer is only for the browser that gave the answer", async () => {
  const { at, allow } = await openQuestion(await prepare(world));
  await allow();
  const other = await openQuestion(await prepare(world));
  expect(await findAnsweredUrl({ uid: at.uid, cookie: other.at.cookie })).toBeUndefined();
  expect(await findAnsweredUrl({ uid: at.uid, cookie: "" })).toBeUndefined();
  expect(await findAnsweredUrl({ uid: at.uid, cookie: at.cookie.replace(/[^;]*\.sig=[^;]*/g, "") })).toBeUndefined();
});
