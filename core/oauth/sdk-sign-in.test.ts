import { createHash } from "node:crypto";
import { inspect } from "node:util";
import {
  createClient,
  createLogin,
  type DeviceCode,
  type DevicePoll,
  deviceLogin,
  discover,
  exchangeCiToken,
  exchangeToken,
  fetchUserInfo,
  finishLogin,
  keepTokens,
  type Login,
  readIdTokenClaims,
  refreshTokens,
  revokeToken,
  type SignInError,
  type Tokens,
  verifyIdToken,
} from "@keyhook/sdk";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import * as oauth from "oauth4webapi";
import { afterAll, describe, expect, test, vi } from "vitest";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { denyDevice } from "./device/answer-device.ts";
import { startCiIssuer } from "./testing/ci-issuer.ts";
import { allowDevice, type DeviceAuthorization, expireDevice, prepareDevice } from "./testing/device.ts";
import { prepareExchange } from "./testing/exchange.ts";
import { type Prepared, prepare } from "./testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "./testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

async function refusal(work: Promise<unknown>): Promise<SignInError> {
  const error = await work.then(
    () => expect.unreachable("it went through"),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ name: "SignInError" });
  return error;
}

const appOf = ({ app }: Pick<Prepared, "app">) => ({
  baseUrl: world.origin,
  clientId: app.clientId,
  ...(app.secret && { clientSecret: app.secret }),
});

async function begin(at: Prepared, options: Partial<Parameters<typeof createLogin>[0]> = {}) {
  const login = await createLogin({ ...appOf(at), redirectUri: REDIRECT_URI, ...options });
  const callback = await world.follow(at.browser, login.url, at.session);
  if (!(callback instanceof URL)) throw new Error(await callback.text());
  return { login, callback };
}
const finish = (at: Prepared, login: Login, callbackUrl: URL | string) =>
  finishLogin({ ...appOf(at), redirectUri: REDIRECT_URI, login, callbackUrl });

describe.each([true, false])("authorization code, app with a secret: %s", (isConfidential) => {
  const options = { isConfidential, scopes: ["openid", "profile", "email", "read-repos"] as const };
  const prepared = () => prepare(world, { ...options, scopes: [...options.scopes] });

  test("signs a user in, reads claims, refreshes and signs out", async () => {
    const at = await prepared();
    const { login, callback } = await begin(at, { scope: ["openid", "email", "offline_access"] });
    const signedIn = await finish(at, login, callback);
    expect(signedIn).toMatchObject({
      tokenType: "bearer",
      claims: { sub: at.person.id, email: at.person.email, nonce: login.nonce },
    });
    expect(signedIn.scope?.split(" ").sort()).toEqual(
      ["email", "offline_access", "openid"].filter((one) => signedIn.scope?.includes(one)),
    );
    expect(Date.parse(signedIn.expiresAt ?? "") - Date.now()).toBeGreaterThan(7 * 3600_000);
    expect(readIdTokenClaims(signedIn.idToken ?? "")).toEqual(signedIn.claims);
    const as = await world.discover();
    const response = Response.json({ access_token: signedIn.accessToken, token_type: "bearer", id_token: signedIn.idToken });
    const checked = await oauth.processAuthorizationCodeResponse(as, { client_id: at.app.clientId }, response, {
      expectedNonce: login.nonce,
    });
    expect(oauth.getValidatedIdTokenClaims(checked)).toEqual(signedIn.claims);

    const { accessToken } = signedIn;
    const info = await fetchUserInfo({ baseUrl: world.origin, accessToken, subject: at.person.id });
    expect(info).toMatchObject({ email: at.person.email, organizations: [] });
    expect(await refusal(fetchUserInfo({ baseUrl: world.origin, accessToken, subject: newId() }))).toMatchObject({
      code: "subject_mismatch",
    });

    const fresh = await refreshTokens({ ...appOf(at), refreshToken: signedIn.refreshToken ?? "" });
    // RFC 9700 §4.14.2: only a public app's refresh token is replaced.
    expect(fresh.refreshToken === signedIn.refreshToken).toBe(isConfidential);
    await revokeToken({ ...appOf(at), token: fresh.refreshToken ?? "" });
    await revokeToken({ ...appOf(at), token: fresh.refreshToken ?? "" });
    expect(await refusal(refreshTokens({ ...appOf(at), refreshToken: fresh.refreshToken ?? "" }))).toMatchObject({
      code: "invalid_grant",
      message: "The sign-in has ended. Sign in again.",
    });
    await expect(fetchUserInfo({ baseUrl: world.origin, accessToken: fresh.accessToken })).rejects.toMatchObject({ status: 401 });
    expect(await refusal(finish(at, login, callback))).toMatchObject({ code: "invalid_grant", status: 400 });
  });

  test("refuses a response that belongs to another login", async () => {
    const at = await prepared();
    const { login, callback } = await begin(at);
    const other = await createLogin({ ...appOf(at), redirectUri: REDIRECT_URI });
    const changed = (change: (parameters: URLSearchParams) => void) => {
      const url = new URL(callback);
      change(url.searchParams);
      return url;
    };
    const foreign: [string, URL, string][] = [
      ["without a state", changed((all) => all.delete("state")), "state_mismatch"],
      ["of another state", changed((all) => all.set("state", other.state)), "state_mismatch"],
      ["of another issuer", changed((all) => all.set("iss", "https://evil.example")), "issuer_mismatch"],
      ["without an issuer", changed((all) => all.delete("iss")), "issuer_mismatch"],
      ["with two codes", changed((all) => all.append("code", "another")), "invalid_response"],
      ["with two states", changed((all) => all.append("state", login.state)), "invalid_response"],
      ["without a code", changed((all) => all.delete("code")), "invalid_response"],
    ];
    for (const [what, url, code] of foreign) expect((await refusal(finish(at, login, url))).code, what).toBe(code);
    expect(
      await refusal(
        finish(
          at,
          { ...login, state: "" },
          changed((all) => all.set("state", "")),
        ),
      ),
    ).toMatchObject({
      code: "state_mismatch",
    });
    // Another login has another verifier, so an injected code is refused (RFC 9700 §4.5).
    const injected = changed((all) => all.set("state", other.state));
    expect(await refusal(finish(at, other, injected))).toMatchObject({ code: "invalid_grant" });
  });

  test("refuses a code that was requested with another nonce", async () => {
    const at = await prepared();
    const { login, callback } = await begin(at);
    expect(await refusal(finish(at, { ...login, nonce: "another" }, callback))).toMatchObject({ code: "invalid_id_token" });
  });
});

test("a denial is reported only if the response belongs to this login", async () => {
  const at = await prepare(world);
  const login = await createLogin({ ...appOf(at), redirectUri: REDIRECT_URI });
  const callback = (await world.follow(at.browser, login.url, at.session, { decision: "deny" })) as URL;
  expect(await refusal(finish(at, login, callback))).toMatchObject({
    code: "access_denied",
    message: expect.stringContaining("The sign-in was refused. Nothing was shared."),
  });
  expect(await refusal(finish(at, { ...login, state: "another" }, callback))).toMatchObject({ code: "state_mismatch" });
});

test("a login can request organizations and other parameters", async () => {
  const at = await prepare(world, { scopes: ["openid", "profile", "read-repos"] });
  const [first, second] = [
    await world.organization(`org-${newId()}`, { [at.person.id]: "admin" }),
    await world.organization(`org-${newId()}`, { [at.person.id]: "read" }),
  ];
  const { login, callback } = await begin(at, { orgIds: [first], prompt: "consent", parameters: { ui_locales: "en" } });
  expect(Object.fromEntries(new URL(login.url).searchParams)).toMatchObject({
    orgIds: first,
    prompt: "consent",
    ui_locales: "en",
  });
  const { accessToken } = await finish(at, login, callback);
  const { organizations } = await fetchUserInfo({ baseUrl: world.origin, accessToken });
  const granted = organizations.filter(({ roleInOrg }) => roleInOrg).map(({ sub }) => sub);
  expect(granted).toEqual([first]);
  expect(organizations.map(({ sub }) => sub)).toContain(first);
  expect(granted).not.toContain(second);
});

describe("an ID token", () => {
  test("is accepted only from the service, for this app and this sign-in", async () => {
    const at = await prepare(world);
    const { login, callback } = await begin(at);
    const { idToken = "", accessToken, claims } = await finish(at, login, callback);
    const check = (changes: Partial<Parameters<typeof verifyIdToken>[0]>) =>
      verifyIdToken({ baseUrl: world.origin, clientId: at.app.clientId, idToken, nonce: login.nonce, accessToken, ...changes });
    expect(await check({})).toEqual(claims);
    expect(await check({ nonce: undefined, accessToken: undefined })).toEqual(claims);

    const [head = "", body = "", signature = ""] = idToken.split(".");
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const forger = await generateKeyPair("RS256", { extractable: true });
    const header = JSON.parse(Buffer.from(head, "base64url").toString());
    const forged = (changes: object, key = forger.privateKey) =>
      new SignJWT({ ...claims, ...changes }).setProtectedHeader(header).sign(key);
    const hmac = await new SignJWT({ ...claims })
      .setProtectedHeader({ ...header, alg: "HS256" })
      .sign(new TextEncoder().encode(JSON.stringify(await exportJWK(forger.publicKey)).padEnd(64)));
    const spoiled: [string, Partial<Parameters<typeof verifyIdToken>[0]>][] = [
      ["of another app", { clientId: "another" }],
      ["of another sign-in", { nonce: "another" }],
      ["changed", { idToken: `${head}.${encoded({ ...claims, sub: "another" })}.${signature}` }],
      ["unsigned", { idToken: `${encoded({ alg: "none" })}.${body}.` }],
      ["with an empty signature", { idToken: `${head}.${body}.` }],
      ["signed by HMAC", { idToken: hmac }],
      ["signed by somebody else", { idToken: await forged({}) }],
      ["of an unknown key", { idToken: `${encoded({ ...header, kid: "another" })}.${body}.${signature}` }],
      ["of another kind of key", { idToken: `${encoded({ ...header, alg: "ES256" })}.${body}.${signature}` }],
      ["with a header that must be understood", { idToken: `${encoded({ ...header, crit: ["b64"] })}.${body}.${signature}` }],
      ["not a JWT", { idToken: "abc" }],
      ["five parts", { idToken: `${idToken}.a.b` }],
      ["nothing", { idToken: "" }],
    ];
    for (const [what, changes] of spoiled) {
      expect(
        await check(changes).then(
          () => "taken",
          ({ code }) => code,
        ),
        what,
      ).toBe("invalid_id_token");
    }
  });

  test("is checked against the clock and the issuer", async () => {
    const ci = await startCiIssuer();
    const service = serviceWithKeysOf(ci);
    const sign = (changes: Record<string, unknown>) =>
      ci.sign({ iss: service.baseUrl, aud: "app", sub: "ada", nonce: "n", ...changes });
    const check = async (changes: Record<string, unknown>) =>
      verifyIdToken({ ...service, clientId: "app", nonce: "n", idToken: await sign(changes) });
    const now = Math.floor(Date.now() / 1000);
    expect(await check({})).toMatchObject({ sub: "ada" });
    expect(await check({ aud: ["app", "other"], azp: "app" })).toMatchObject({ sub: "ada" });
    expect(await check({ exp: now - 30, iat: now - 90 })).toMatchObject({ sub: "ada" });
    expect(await check({ iat: now + 30 })).toMatchObject({ sub: "ada" });
    // OpenID Connect Core §3.1.3.8.
    const at_hash = createHash("sha256").update("an access token").digest().subarray(0, 16).toString("base64url");
    const bound = { ...service, clientId: "app", nonce: "n", idToken: await sign({ at_hash }) };
    expect(await verifyIdToken({ ...bound, accessToken: "an access token" })).toMatchObject({ at_hash });
    expect((await refusal(verifyIdToken({ ...bound, accessToken: "another" }))).code).toBe("invalid_id_token");
    for (const changes of [
      { exp: now - 61 },
      { iat: now + 90 },
      { iss: "https://evil.example" },
      { aud: ["app", "other"] },
      { aud: ["app", "other"], azp: "other" },
      { azp: "other" },
      { sub: "" },
      { sub: undefined },
      { exp: undefined },
      { nonce: undefined },
    ]) {
      expect((await refusal(check(changes))).code, JSON.stringify(changes)).toBe("invalid_id_token");
    }
    await ci.rotate("ES256");
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 61_000);
    expect(await check({})).toMatchObject({ sub: "ada" });
    vi.restoreAllMocks();
    await ci.stop();
  });

  function serviceWithKeysOf({ issuer: at }: { issuer: string }) {
    const baseUrl = "https://hub.example.test";
    const serve: typeof fetch = async (input, init) => {
      const url = String(input);
      if (!url.startsWith(baseUrl)) return fetch(`${at}/keys`, init);
      const endpoint = `${baseUrl}/oauth/x`;
      return Response.json({
        issuer: baseUrl,
        authorization_endpoint: endpoint,
        token_endpoint: endpoint,
        jwks_uri: `${at}/keys`,
      });
    };
    return { baseUrl, fetch: serve };
  }
});

test("an ID token from the token endpoint is checked, and errors contain no token", async () => {
  const at = await prepare(world);
  const { login, callback } = await begin(at, { scope: "openid offline_access" });
  const { refreshToken = "", idToken = "", accessToken } = await finish(at, login, callback);
  const answers: [string, object, string][] = [
    ["of another app", { id_token: idToken, access_token: accessToken, token_type: "Bearer" }, "invalid_id_token"],
    ["without an access token", { token_type: "Bearer", refresh_token: refreshToken }, "unexpected_answer"],
    ["of an unknown token type", { access_token: accessToken, token_type: "N_A" }, "unexpected_answer"],
    ["that is a list", [accessToken], "unexpected_answer"],
  ];
  for (const [what, answer, code] of answers) {
    const answering: typeof fetch = (input, init) =>
      String(input).endsWith("/oauth/token") ? Promise.resolve(Response.json(answer)) : fetch(input, init);
    const error = await refreshTokens({
      ...appOf(at),
      clientId: "another",
      fetch: answering,
      refreshToken: `${refreshToken}-${what}`,
    }).then(
      () => expect.unreachable(what),
      (thrown: unknown) => thrown,
    );
    expect(error, what).toMatchObject({ code });
    for (const secret of [accessToken, refreshToken, idToken]) expect(inspect(error, { depth: 10 }), what).not.toContain(secret);
  }
});

test("a wrong clock does not lose the new tokens", async () => {
  const at = await prepare(world);
  const { login, callback } = await begin(at, { scope: "openid offline_access" });
  const { refreshToken = "" } = await finish(at, login, callback);
  const wrongClock: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 2 * 3_600_000);
    return answer;
  };
  const fresh = await refreshTokens({ ...appOf(at), fetch: wrongClock, refreshToken }).finally(() => vi.restoreAllMocks());
  expect(fresh.refreshToken).not.toBe(refreshToken);
  expect(Date.parse(fresh.expiresAt ?? "")).toBeGreaterThan(Date.now());
});

test("the SDK sends no secret to an https service by plain http", async () => {
  const baseUrl = "https://half.example.test";
  const serve = vi.fn<typeof fetch>(async () =>
    Response.json({
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/a`,
      token_endpoint: "http://half.example.test/t",
      jwks_uri: `${baseUrl}/k`,
    }),
  );
  const refused = refreshTokens({ baseUrl, clientId: "app", clientSecret: "secret", refreshToken: "r", fetch: serve });
  await expect(refused).rejects.toMatchObject({ code: "unexpected_answer", message: expect.stringContaining("HTTPS") });
  expect(serve).toHaveBeenCalledTimes(1);
});

test("a login uses PKCE with S256 (RFC 7636 §4.2) and secrets of its own", async () => {
  const at = await prepare(world);
  const logins = [await createLogin({ ...appOf(at), redirectUri: REDIRECT_URI })];
  logins.push(await createLogin({ ...appOf(at), redirectUri: REDIRECT_URI }));
  for (const { url, codeVerifier, state, nonce } of logins) {
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
      state,
      nonce,
    });
    for (const secret of [codeVerifier, state, nonce]) expect(secret).toMatch(/^[\w-]{43}$/);
  }
  expect(new Set(logins.flatMap(({ codeVerifier, state, nonce }) => [codeVerifier, state, nonce])).size).toBe(6);
});

describe("discovery", () => {
  test("is requested once, and again after a failure", async () => {
    const baseUrl = "https://kept.example.test";
    const answers = [
      () => Response.json({ error: "away" }, { status: 500 }),
      async () =>
        Response.json({ ...(await (await fetch(`${world.origin}/.well-known/openid-configuration`)).json()), issuer: baseUrl }),
    ];
    const asked = vi.fn(async () => answers.shift()?.() ?? expect.unreachable("asked again"));
    await expect(discover({ baseUrl, fetch: asked })).rejects.toMatchObject({ status: 500 });
    const all = await Promise.all([discover({ baseUrl, fetch: asked }), discover({ baseUrl: `${baseUrl}/`, fetch: asked })]);
    expect(all[0]).toBe(all[1]);
    expect(asked).toHaveBeenCalledTimes(2);
  });

  test("of a service that names another issuer is refused", async () => {
    expect(await refusal(discover({ baseUrl: world.origin.replace("localhost", "127.0.0.1") }))).toMatchObject({
      code: "issuer_mismatch",
      message: expect.stringContaining(`Use that as baseUrl`),
    });
  });
});

describe("a device", () => {
  async function device(
    answering: (code: string, at: Prepared) => Promise<unknown> | undefined,
    options: Partial<Parameters<typeof deviceLogin>[0]> = {},
    isConfidential = false,
  ) {
    const at = await prepareDevice(world, { isConfidential });
    const [waits, polls]: [number[], DevicePoll[]] = [[], []];
    const signedIn = deviceLogin({
      ...appOf(at),
      scope: "openid email",
      onCode: async ({ userCode }) => void (await answering(userCode, at)),
      onPoll: (poll) => void polls.push(poll),
      wait: async (seconds) => void waits.push(seconds),
      ...options,
    });
    return { at, signedIn, waits, polls };
  }

  test.each([true, false])("signs a user in; app with a secret: %s", async (isConfidential) => {
    const { at, signedIn, waits } = await device((code, { session }) => allowDevice(session, code), {}, isConfidential);
    const tokens = await signedIn;
    expect(tokens.claims).toMatchObject({ sub: at.person.id, email: at.person.email, aud: at.app.clientId });
    expect(waits).toEqual([5]);
    expect((await refreshTokens({ ...appOf(at), refreshToken: tokens.refreshToken ?? "" })).accessToken).toBeTruthy();
  });

  test("shows its code and polls at the required interval", async () => {
    let shown: unknown;
    const at = await prepareDevice(world);
    const told: DevicePoll[] = [];
    const paced: number[] = [];
    let userCode = "";
    const tokens = await deviceLogin({
      ...appOf(at),
      scope: ["openid"],
      onCode: (code) => {
        shown = code;
        userCode = code.userCode;
      },
      onPoll: (poll) => void told.push(poll),
      wait: async (seconds) => {
        paced.push(seconds);
        if (paced.length === 3) await allowDevice(at.session, userCode);
      },
    });
    expect(tokens.claims?.sub).toBe(at.person.id);
    expect(shown).toEqual({
      userCode: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      verificationUri: `${world.origin}/device`,
      verificationUriComplete: `${world.origin}/device?user_code=${userCode}`,
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(told).toMatchObject([
      { number: 1, answer: "authorization_pending", intervalSeconds: 5 },
      { number: 2, answer: "slow_down", intervalSeconds: 10 },
    ]);
    expect(paced).toEqual([5, 5, 10]);
  });

  test("gets an error for a denial, an expired code and an unknown client", async () => {
    const denied = await device((code, { session }) => denyDevice(session, code, noOrigin));
    expect(await refusal(denied.signedIn)).toMatchObject({
      code: "access_denied",
      message: "The sign-in was refused. Nothing was shared.",
    });
    let deviceCode = "";
    const overheard: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (String(input).endsWith("/oauth/device")) deviceCode = (await response.clone().json()).device_code;
      return response;
    };
    const late = await device(() => expireDevice({ device_code: deviceCode } as DeviceAuthorization), { fetch: overheard });
    expect(await refusal(late.signedIn)).toMatchObject({ code: "expired_token", message: /has expired/ });
    const nobody = await device(() => undefined, { clientId: "nobody" });
    expect(await refusal(nobody.signedIn)).toMatchObject({ code: "invalid_client" });
  });

  test("waits ever longer while the service is down, until the code expires", async () => {
    let polls = 0;
    const away: typeof fetch = (input, init) => {
      if (!String(input).endsWith("/oauth/token")) return fetch(input, init);
      polls += 1;
      if (polls === 1) throw new TypeError("fetch failed");
      if (polls === 2) return Promise.resolve(new Response("<h1>Bad gateway</h1>", { status: 502 }));
      if (polls === 3) return Promise.resolve(new Response("<h1>Welcome</h1>"));
      if (polls === 4) return Promise.resolve(Response.json({ error: "slow" }, { status: 429 }));
      return fetch(input, init);
    };
    const { at, signedIn, waits, polls: told } = await device((code, { session }) => allowDevice(session, code), { fetch: away });
    expect((await signedIn).claims?.sub).toBe(at.person.id);
    expect(waits).toEqual([5, 10, 20, 40, 45]);
    expect(told.map(({ answer }) => answer)).toEqual(["unreachable", "unreachable", "unreachable", "slow_down"]);

    const start = Date.now();
    const late = await device(() => undefined, {
      wait: async () => void vi.spyOn(Date, "now").mockReturnValue(start + 16 * 60_000),
    });
    expect(await refusal(late.signedIn)).toMatchObject({ code: "expired_token" });
    vi.restoreAllMocks();
  });

  test("keeps the required interval while the service is down", async () => {
    let polls = 0;
    const away: typeof fetch = async (input, init) => {
      if (String(input).endsWith("/oauth/token") && ++polls <= 2) throw new TypeError("fetch failed");
      const response = await fetch(input, init);
      if (!String(input).endsWith("/oauth/device")) return response;
      return Response.json({ ...(await response.json()), interval: 90 });
    };
    const { signedIn, waits } = await device((code, { session }) => allowDevice(session, code), { fetch: away });
    await signedIn;
    expect(waits).toEqual([90, 90, 90]);
  });

  test("shows no URL that would open another program than a browser, or be several arguments of its command line", async () => {
    const at = await prepareDevice(world);
    const showing = async (verification_uri_complete: string) => {
      const lying: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (!String(input).endsWith("/oauth/device")) return response;
        return Response.json({ ...(await response.json()), verification_uri_complete });
      };
      const onCode = vi.fn(() => Promise.reject(new Error("enough")));
      await expect(deviceLogin({ ...appOf(at), fetch: lying, onCode })).rejects.toThrow();
      return onCode.mock.calls;
    };
    expect(await showing("javascript:alert(1)")).toEqual([]);
    const [[code] = []] = (await showing(" https://evil.example/a b\u2019 --proxy\n")) as unknown as [[DeviceCode]];
    expect(code?.verificationUriComplete).toBe("https://evil.example/a%20b%E2%80%99%20--proxy");
  });

  test("stops when it is aborted", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const { signedIn } = await device(() => undefined, {
      signal: controller.signal,
      wait: undefined,
      onCode: () => controller.abort(reason),
    });
    await expect(signedIn).rejects.toBe(reason);
  });
});

describe("tokens that are kept", () => {
  async function signedIn() {
    const at = await prepareDevice(world);
    const tokens = await deviceLogin({
      ...appOf(at),
      scope: "openid email",
      onCode: async ({ userCode }) => void (await allowDevice(at.session, userCode)),
      wait: async () => undefined,
    });
    const kept: { tokens: Tokens } = { tokens };
    let requests = 0;
    const counted: typeof fetch = (input, init) => {
      if (String(input).endsWith("/oauth/token")) requests += 1;
      return fetch(input, init);
    };
    const keep = (options: Partial<Parameters<typeof keepTokens>[0]> = {}) =>
      keepTokens({
        ...appOf(at),
        fetch: counted,
        read: () => structuredClone(kept.tokens),
        write: (fresh) => {
          kept.tokens = structuredClone(fresh);
        },
        ...options,
      });
    const end = () => {
      kept.tokens = { ...kept.tokens, expiresAt: new Date(Date.now() - 1000).toISOString() };
    };
    return { at, kept, keep, end, requests: () => requests, tokens };
  }

  test("are renewed before they expire, once for all callers", async () => {
    const { kept, keep, end, requests, tokens } = await signedIn();
    const token = keep();
    expect(await token()).toBe(tokens.accessToken);
    expect(requests()).toBe(0);
    end();
    const given = await Promise.all([token(), token(), token()]);
    expect(new Set(given)).toEqual(new Set([kept.tokens.accessToken]));
    expect(requests()).toBe(1);
    expect(kept.tokens.refreshToken).not.toBe(tokens.refreshToken);
    const refused = kept.tokens.accessToken;
    expect(await token({ refused })).not.toBe(refused);
    expect(requests()).toBe(2);
  });

  test("are shared by two processes, with or without a lock", async () => {
    const { kept, keep, end, requests } = await signedIn();
    end();
    let turn = Promise.resolve<unknown>(undefined);
    const lock = <T>(work: () => Promise<T>): Promise<T> => {
      const mine = turn.then(work, work);
      turn = mine.catch(() => undefined);
      return mine;
    };
    const [first, second] = [keep({ lock }), keep({ lock })];
    expect(await Promise.all([first(), second()])).toEqual([kept.tokens.accessToken, kept.tokens.accessToken]);
    expect(requests()).toBe(1);
    end();
    expect(new Set(await Promise.all([keep()(), keep()()]))).toEqual(new Set([kept.tokens.accessToken]));
    expect(requests()).toBe(2);
  });

  test("are used until they expire while the service is down", async () => {
    const { kept, keep, tokens, end } = await signedIn();
    kept.tokens = { ...tokens, expiresAt: new Date(Date.now() + 30_000).toISOString() };
    const fetchNothing: typeof fetch = (input, init) =>
      String(input).endsWith("/oauth/token") ? Promise.reject(new TypeError("fetch failed")) : fetch(input, init);
    expect(await keep({ fetch: fetchNothing })()).toBe(tokens.accessToken);
    end();
    await expect(keep({ fetch: fetchNothing })()).rejects.toMatchObject({ code: "network" });
    expect(await keep()()).not.toBe(tokens.accessToken);
  });

  test("that cannot be renewed require a new sign-in", async () => {
    const { at, keep, end, tokens } = await signedIn();
    await revokeToken({ ...appOf(at), token: tokens.refreshToken ?? "" });
    end();
    expect(await refusal(keep()())).toMatchObject({ code: "invalid_grant", message: /Sign in again/ });
    expect(await refusal(keep({ read: () => undefined })())).toMatchObject({ code: "signed_out", message: /Sign in first/ });
  });
});

describe("an exchange", () => {
  test("gives an app a token of a member by their email address", async () => {
    const at = await prepareExchange(world, { scopes: ["openid", "profile", "read-repos"] });
    const app = { baseUrl: world.origin, clientId: at.app.clientId, clientSecret: at.app.secret ?? "" };
    const tokens = await exchangeToken({ ...app, email: at.writer.email, scope: ["openid", "read-repos"] });
    expect(tokens).toMatchObject({ tokenType: "bearer", scope: "openid read-repos" });
    expect(tokens).not.toHaveProperty("refreshToken");
    const claims = await verifyIdToken({ ...app, idToken: tokens.idToken ?? "", accessToken: tokens.accessToken });
    expect(claims.sub).toBe(at.writer.id);
    expect((await fetchUserInfo({ ...app, accessToken: tokens.accessToken })).sub).toBe(at.writer.id);

    const as = await world.discover();
    const grant = "urn:ietf:params:oauth:grant-type:token-exchange";
    const parameters = { subject_token: at.writer.email, subject_token_type: "urn:keyhook:token-type:user-email" };
    const party = { client_id: at.app.clientId };
    const asked = await oauth.genericTokenEndpointRequest(
      as,
      party,
      oauth.ClientSecretBasic(app.clientSecret),
      grant,
      parameters,
      world.insecure,
    );
    const { scope } = await oauth.processGenericTokenEndpointResponse(as, party, asked);
    expect((await exchangeToken({ ...app, email: at.writer.email })).scope).toBe(scope);

    const refused: [Partial<Parameters<typeof exchangeToken>[0]>, string][] = [
      [{ email: at.stranger.email }, "invalid_grant"],
      [{ scope: "jobs" }, "invalid_scope"],
      [{ clientSecret: "another" }, "invalid_client"],
      [{ vendor: "another" }, "invalid_request"],
      [{ email: "" }, "invalid_request"],
    ];
    for (const [changes, code] of refused) {
      expect((await refusal(exchangeToken({ ...app, email: at.writer.email, ...changes }))).code, JSON.stringify(changes)).toBe(
        code,
      );
    }
    const actorToken = (await exchangeToken({ ...app, email: at.admin.email })).accessToken;
    expect((await exchangeToken({ ...app, email: at.writer.email, actorToken })).accessToken).toBeTruthy();
  });

  test("gives a CI job a token for its repository", async () => {
    const ci = await startCiIssuer();
    const person = await world.user(`ci-${newId()}`);
    const [id, name] = [newId(), `tide-${newId()}`];
    await db().repo.create({ data: { id, type: "dataset", ownerId: person.id, ownerKind: "user", name, nameCanonical: name } });
    await db().trustedPublisher.create({
      data: { id: newId(), preset: "oidc", issuer: ci.issuer, claims: { repository: "octo/kite" }, repoId: id },
    });
    const resource = `datasets/${person.username}/${name}`;
    const idToken = await ci.sign({ repository: "octo/kite" });
    const tokens = await exchangeCiToken({ baseUrl: world.origin, idToken, resource });
    expect(tokens).toMatchObject({ accessToken: expect.stringMatching(/^kh_jwt_/), tokenType: "bearer" });
    expect(await refusal(exchangeCiToken({ baseUrl: world.origin, idToken, resource }))).toMatchObject({ code: "invalid_grant" });
    expect(await refusal(exchangeCiToken({ baseUrl: world.origin, idToken: "x", resource }))).toMatchObject({
      code: "invalid_request",
    });
    await ci.stop();
  });
});

test("finishing a login sends requests only to the service", async () => {
  const at = await prepare(world);
  const seen: string[] = [];
  const watched: typeof fetch = (input, init) => {
    seen.push(`${init?.method} ${new URL(String(input)).origin}`);
    return fetch(input, init);
  };
  const { login, callback } = await begin(at);
  await finishLogin({ ...appOf(at), fetch: watched, redirectUri: REDIRECT_URI, login, callbackUrl: callback });
  expect(new Set(seen)).toEqual(new Set([`POST ${world.origin}`]));
  expect(createClient({ baseUrl: world.origin }).baseUrl).toBe(world.origin);
});
