import * as client from "openid-client";
import { afterAll, describe, expect, test } from "vitest";
import { db, pool } from "#core/db.ts";
import { LONG_HOST, longestParsed } from "#core/http/testing/long-host.ts";
import { rememberedCounter } from "../artifacts/is-first-use.ts";
import { DEVICE_CODE_GRANT } from "../grant-types.ts";
import { PROOF_AHEAD_SECONDS } from "../lifetimes.ts";
import { PKCE } from "../testing/authorization.ts";
import { allowDevice, prepareDevice, startDevice } from "../testing/device.ts";
import { type ProofKey, proofKey } from "../testing/dpop.ts";
import { asApp, authorize, type Prepared, prepare, redemption } from "../testing/sign-in.ts";
import { asked, visitSite } from "../testing/site-visit.ts";
import { REDIRECT_URI, startWorld, type TestApp } from "../testing/world.ts";
import { consumeDpopProof } from "./dpop-proof.ts";
import { findBearer } from "./find-bearer.ts";

const world = await startWorld();
afterAll(() => world.stop());

const TOKEN = "/oauth/token";
const USERINFO = "/oauth/userinfo";

async function ask(app: TestApp, form: Record<string, string>, proof: ProofKey | string | undefined) {
  const dpop = typeof proof === "object" ? await proof.proof("POST", world.origin + TOKEN) : proof;
  const headers: Record<string, string> = dpop === undefined ? {} : { dpop };
  const authenticated = app.secret ? { authorization: world.basic(app.clientId, app.secret) } : undefined;
  const response = await world.post(TOKEN, authenticated ? form : { client_id: app.clientId, ...form }, {
    ...headers,
    ...authenticated,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function bound(at: Prepared, key: ProofKey, scope = "openid profile offline_access") {
  const code = await authorize(at, { scope });
  const { status, body } = await ask(at.app, redemption(code), key);
  expect(status).toBe(200);
  return body;
}

const userinfo = (token: string, proof: string | undefined, scheme = "DPoP", method = "GET") =>
  fetch(world.origin + USERINFO, {
    method,
    headers: { authorization: `${scheme} ${token}`, ...(proof !== undefined && { dpop: proof }) },
  });

const boundCount = async (app: TestApp) => {
  const { rows } = await pool().query("SELECT 1 FROM oauth_artifact WHERE client_id = $1 AND model = 'AccessToken'", [
    app.clientId,
  ]);
  return rows.length;
};

describe.each([
  ["public", false],
  ["confidential", true],
])("RFC 9449 a %s app, as openid-client 6 does it", (_kind, isConfidential) => {
  test("a bound token works with code, userinfo, refresh, introspection and revocation", async () => {
    const at = await prepare(world, { isConfidential });
    const authentication = at.app.secret ? client.ClientSecretBasic(at.app.secret) : client.None();
    const config = await client.discovery(new URL(world.origin), at.app.clientId, undefined, authentication, {
      execute: [client.allowInsecureRequests],
    });
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair());
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const url = await client.buildAuthorizationUrlWithPAR(
      config,
      {
        redirect_uri: REDIRECT_URI,
        scope: "openid profile offline_access",
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: "S256",
        state: "s",
      },
      { DPoP },
    );
    const callback = (await world.follow(at.browser, url.href, at.session)) as URL;
    const checks = { pkceCodeVerifier, expectedState: "s" };
    const tokens = await client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP });
    expect(tokens.token_type).toBe("dpop");
    const claims = await client.fetchUserInfo(config, tokens.access_token, at.person.id, { DPoP });
    expect(claims.sub).toBe(at.person.id);
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? "", undefined, { DPoP });
    expect(refreshed.token_type).toBe("dpop");
    await client.fetchUserInfo(config, refreshed.access_token, at.person.id, { DPoP });
    if (isConfidential) {
      const seen = await client.tokenIntrospection(config, refreshed.access_token);
      expect(seen).toMatchObject({ active: true, token_type: "DPoP", cnf: { jkt: expect.stringMatching(/^[\w-]{43}$/) } });
    }
    await client.tokenRevocation(config, refreshed.refresh_token ?? "");
    await expect(client.fetchUserInfo(config, refreshed.access_token, at.person.id, { DPoP })).rejects.toMatchObject({
      status: 401,
    });
  });
});

test("RFC 9449 §5 the token_type is DPoP", async () => {
  const at = await prepare(world);
  expect((await bound(at, await proofKey())).token_type).toBe("DPoP");
});

test.each(["ES256", "Ed25519", "EdDSA"])("discovery lists %s, and proofs with it are accepted", async (alg) => {
  expect((await world.discover()).dpop_signing_alg_values_supported).toContain(alg);
  const tokens = await bound(await prepare(world), await proofKey(alg));
  expect(tokens.token_type).toBe("DPoP");
});

describe("RFC 9449 §4.3 an invalid proof gets no token, and consumes no code", () => {
  const now = () => Math.floor(Date.now() / 1000);
  const address = () => world.origin + TOKEN;
  const spoiled: [string, (key: ProofKey) => Promise<string>][] = [
    ["not a JWT", async () => "nonsense"],
    ["two proofs", async (key) => `${await key.proof("POST", address())}, ${await key.proof("POST", address())}`],
    ["of another type", (key) => key.proof("POST", address(), undefined, { header: { typ: "JWT" } })],
    ["without its key", (key) => key.proof("POST", address(), undefined, { header: { jwk: undefined } })],
    [
      "with the private key in it",
      (key) => key.proof("POST", address(), undefined, { header: { jwk: { ...key.jwk, d: key.jwk.x } } }),
    ],
    [
      "with the public key of another key pair",
      async (key) => key.proof("POST", address(), undefined, { header: { jwk: (await proofKey()).jwk } }),
    ],
    ["signed with RSA, which is not on our list", async () => (await proofKey("RS256")).proof("POST", address())],
    ["for another method", (key) => key.proof("GET", address())],
    ["for another URL", (key) => key.proof("POST", world.origin + USERINFO)],
    ["for another host", (key) => key.proof("POST", `http://evil.example${TOKEN}`)],
    ["for another scheme", (key) => key.proof("POST", address().replace("http:", "https:"))],
    ["from ten minutes ago", (key) => key.proof("POST", address(), undefined, { claims: { iat: now() - 600 } })],
    ["from two minutes in the future", (key) => key.proof("POST", address(), undefined, { claims: { iat: now() + 120 } })],
    ["without a time", (key) => key.proof("POST", address(), undefined, { claims: { iat: undefined } })],
    ["without a jti", (key) => key.proof("POST", address(), undefined, { claims: { jti: undefined } })],
    ["with an unknown nonce", (key) => key.proof("POST", address(), undefined, { claims: { nonce: "x" } })],
    ["without a signature", async (key) => `${(await key.proof("POST", address())).split(".").slice(0, 2).join(".")}.`],
  ];

  test.each(spoiled)("%s", async (_what, make) => {
    const [at, key] = [await prepare(world), await proofKey()];
    const code = await authorize(at);
    const { status, body } = await ask(at.app, redemption(code), await make(key));
    expect([status, body.error]).toEqual([400, "invalid_dpop_proof"]);
    expect((await ask(at.app, redemption(code), key)).status).toBe(200);
  });

  test("S51 a megabyte of proof fails with a 4xx", async () => {
    const at = await prepare(world);
    const sent = ask(at.app, redemption(await authorize(at)), "x".repeat(1024 * 1024)).catch(() => ({ status: 431 }));
    expect((await sent).status).toBeGreaterThanOrEqual(400);
    expect((await sent).status).toBeLessThan(500);
  });

  test("S138 a long host name in htu is not parsed", async () => {
    const [at, key] = [await prepare(world), await proofKey()];
    const accessToken = "an access token";
    const parsed = await longestParsed(async () => {
      const proof = await key.proof("POST", `https://${LONG_HOST.slice(0, 3_500)}${TOKEN}`, accessToken);
      expect((await ask(at.app, redemption(await authorize(at)), proof)).body.error).toBe("invalid_dpop_proof");
      const request = { proof, method: "POST", path: TOKEN };
      const token = { value: accessToken, clientId: at.app.clientId, accountId: at.person.id, keyThumbprint: key.thumbprint };
      await expect(consumeDpopProof(request, token)).rejects.toThrow("another URL");
    });
    expect(parsed).toBeLessThan(1_000);
  });

  test("the host of htu must be that of ORIGIN (S110)", async () => {
    const [at, key] = [await prepare(world), await proofKey()];
    const proof = await key.proof("POST", `${address()}?a=1#b`);
    const form = new URLSearchParams({ client_id: at.app.clientId, ...redemption(await authorize(at)) }).toString();
    const { port } = new URL(world.origin);
    const response = await fetch(`http://127.0.0.1:${port}${TOKEN}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", dpop: proof, "x-forwarded-host": "evil.example" },
      body: form,
    });
    expect((await response.json()).token_type).toBe("DPoP");
  });
});

describe("RFC 9449 §11.1 a proof works once", () => {
  test("at the token endpoint", async () => {
    const [at, key] = [await prepare(world), await proofKey()];
    const proof = await key.proof("POST", world.origin + TOKEN);
    expect((await ask(at.app, redemption(await authorize(at)), proof)).status).toBe(200);
    const again = await ask(at.app, redemption(await authorize(at)), proof);
    expect([again.status, again.body.error]).toEqual([400, "invalid_grant"]);
  });

  test("when twenty requests arrive at the same moment", async () => {
    const [at, key] = [await prepare(world), await proofKey()];
    const { access_token } = await bound(at, key);
    const proof = await key.proof("GET", world.origin + USERINFO, access_token);
    const answers = await Promise.all(Array.from({ length: 20 }, () => userinfo(access_token, proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  test("even if the client's clock is ahead", async () => {
    const [at, key] = [await prepare(world), await proofKey()];
    const { access_token } = await bound(at, key);
    const ahead = { claims: { iat: Math.floor(Date.now() / 1000) + PROOF_AHEAD_SECONDS } };
    expect((await userinfo(access_token, await key.proof("GET", world.origin + USERINFO, access_token, ahead))).status).toBe(200);
    const { rows } = await pool().query(
      "SELECT extract(epoch FROM max(expires_at) - now()) AS seconds FROM oauth_artifact WHERE model = 'ReplayDetection'",
    );
    expect(Number(rows[0].seconds)).toBeGreaterThan(350);
  });

  test("S143 and is remembered, up to a number of proofs for all endpoints of one account", async () => {
    const [at, key] = [await prepare(world), await proofKey()];
    const { access_token } = await bound(at, key);
    const ask = async () => userinfo(access_token, await key.proof("GET", world.origin + USERINFO, access_token));
    const find = async () => {
      const proof = await key.proof("GET", `${world.origin}/api/whoami-v2`, access_token);
      return findBearer(access_token, { scheme: "dpop", proof, method: "GET", path: "/api/whoami-v2" });
    };
    const [counter, { limit }] = rememberedCounter(at.person.id);
    const data = { count: limit - 2, resetAt: new Date(Date.now() + 60_000) };
    await db().throttle.upsert({ where: { key: counter }, create: { key: counter, ...data }, update: data });
    expect((await ask()).status).toBe(200);
    expect(await find()).toMatchObject({ kind: "oauth" });
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await expect(find()).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("S143 in a refresh, where it counts for the user", async () => {
    const [owner, user, key] = [await prepare(world, { isConfidential: false }), await prepare(world), await proofKey()];
    const at = { ...user, app: owner.app };
    const { refresh_token } = await bound(at, key);
    const [counter] = rememberedCounter(at.person.id);
    const before = (await db().throttle.findUnique({ where: { key: counter } }))?.count ?? 0;
    const wrong = await ask(at.app, { grant_type: "refresh_token", refresh_token }, await proofKey());
    expect(wrong.body.error).toBe("invalid_grant");
    expect((await db().throttle.findUniqueOrThrow({ where: { key: counter } })).count).toBe(before + 1);
  });

  test("and only its hash is stored (S55)", async () => {
    const [at, key] = [await prepare(world), await proofKey()];
    const { access_token } = await bound(at, key);
    const jti = "a jti to look for";
    await userinfo(access_token, await key.proof("GET", world.origin + USERINFO, access_token, { claims: { jti } }));
    const { rows } = await pool().query("SELECT * FROM oauth_artifact WHERE model = 'ReplayDetection'");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(jti);
    expect(rows.every(({ expires_at }) => expires_at !== null)).toBe(true);
  });
});

describe("RFC 9449 §10 a code that is bound to a key", () => {
  test.each(["at the authorization endpoint", "when it is pushed", "by the proof of the push"])(
    "%s is redeemed only with that key",
    async (how) => {
      const [at, key, other] = [await prepare(world), await proofKey(), await proofKey()];
      const codeFor = async () => {
        const verifier = client.randomPKCECodeVerifier();
        const code_challenge = await client.calculatePKCECodeChallenge(verifier);
        const isByProof = how.startsWith("by");
        const parameters = { ...PKCE, code_challenge, ...(!isByProof && { dpop_jkt: key.thumbprint }) };
        let url = world.authorizeUrl(at.app, parameters);
        if (how !== "at the authorization endpoint") {
          const form = Object.fromEntries(new URL(url).searchParams);
          const dpop = await key.proof("POST", `${world.origin}/oauth/par`);
          const response = await world.post("/oauth/par", form, isByProof ? { dpop } : {});
          const { request_uri } = await response.json();
          url = `/oauth/authorize?${new URLSearchParams({ client_id: at.app.clientId, request_uri })}`;
        }
        const landed = (await world.follow(at.browser, url, at.session)) as URL;
        return { code: landed.searchParams.get("code") ?? "", verifier };
      };
      const without = await ask(at.app, redemption(await codeFor()), undefined);
      const wrong = await ask(at.app, redemption(await codeFor()), other);
      for (const { status, body } of [without, wrong]) expect([status, body.error]).toEqual([400, "invalid_grant"]);
      expect((await ask(at.app, redemption(await codeFor()), key)).status).toBe(200);
    },
  );

  test("a pushed request whose proof differs from its dpop_jkt is refused", async () => {
    const [at, key, other] = [await prepare(world), await proofKey(), await proofKey()];
    const form = Object.fromEntries(new URL(world.authorizeUrl(at.app, { ...PKCE, dpop_jkt: key.thumbprint })).searchParams);
    const response = await world.post("/oauth/par", form, { dpop: await other.proof("POST", `${world.origin}/oauth/par`) });
    expect([response.status, (await response.json()).error]).toEqual([400, "invalid_request"]);
  });
});

describe("RFC 9449 §5 refresh tokens", () => {
  test("of a public app are bound to its key", async () => {
    const [at, key, other] = [await prepare(world), await proofKey(), await proofKey()];
    const { refresh_token } = await bound(at, key);
    const form = { grant_type: "refresh_token", refresh_token };
    for (const proof of [undefined, other]) {
      const refused = await ask(at.app, form, proof);
      expect([refused.status, refused.body.error]).toEqual([400, "invalid_grant"]);
    }
    const refreshed = await ask(at.app, form, key);
    // RFC 9700 §4.14.2: a bound token need not be replaced.
    expect(refreshed.body).toMatchObject({ token_type: "DPoP", refresh_token });
    expect((await ask(at.app, form, other)).status).toBe(400);
    expect((await ask(at.app, form, key)).status).toBe(200);
  });

  test("of a confidential app are bound to the app, which may use a new key", async () => {
    const [at, key, other] = [await prepare(world, { isConfidential: true }), await proofKey(), await proofKey()];
    const { refresh_token } = await bound(at, key);
    const { status, body } = await ask(at.app, { grant_type: "refresh_token", refresh_token }, other);
    expect(status).toBe(200);
    const proof = await other.proof("GET", world.origin + USERINFO, body.access_token);
    expect((await userinfo(body.access_token, proof)).status).toBe(200);
  });
});

describe("RFC 9449 §7 userinfo", () => {
  test.each(["GET", "POST"])("accepts a bound token with its proof, by %s", async (method) => {
    const [at, key] = [await prepare(world), await proofKey()];
    const { access_token } = await bound(at, key);
    const proof = await key.proof(method, world.origin + USERINFO, access_token);
    const response = await userinfo(access_token, proof, "DPoP", method);
    expect(await response.json()).toMatchObject({ sub: at.person.id });
  });

  test("§7.2 refuses a bound token as a plain one, and a plain one as a bound one", async () => {
    const [at, key] = [await prepare(world), await proofKey()];
    const { access_token } = await bound(at, key);
    const plain = (await ask(at.app, redemption(await authorize(at)), undefined)).body.access_token;
    const asBearer = await userinfo(access_token, undefined, "Bearer");
    expect(asBearer.status).toBe(401);
    const asBound = await userinfo(plain, await key.proof("GET", world.origin + USERINFO, plain));
    expect(asBound.status).toBe(401);
    expect(asBound.headers.get("www-authenticate")).toMatch(/^DPoP .*error="invalid_token".*algs="ES256 Ed25519 EdDSA"/);
  });

  test("§7.1 refuses a proof of another token or key, and names the accepted algorithms", async () => {
    const [at, key, other] = [await prepare(world), await proofKey(), await proofKey()];
    const { access_token } = await bound(at, key);
    const address = world.origin + USERINFO;
    const proofs = [
      await key.proof("GET", address, "another token"),
      await key.proof("GET", address),
      await other.proof("GET", address, access_token),
    ];
    for (const proof of proofs) {
      const response = await userinfo(access_token, proof);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toMatch(
        /^DPoP .*error="invalid_(dpop_proof|token)".*algs="ES256 Ed25519 EdDSA"/,
      );
    }
    expect((await userinfo(access_token, undefined)).status).toBeLessThan(500);
    expect((await userinfo(access_token, undefined)).ok).toBe(false);
    const challenge = (await fetch(address)).headers.get("www-authenticate");
    expect(challenge).toMatch(/Bearer .*DPoP .*algs="ES256 Ed25519 EdDSA"/);
  });
});

describe("RFC 9449 §5.2 an app that requires proofs", () => {
  test("gets a token only with a proof", async () => {
    const [at, key] = [await prepare(world, { isDpopRequired: true }), await proofKey()];
    const code = await authorize(at, { scope: "openid offline_access" });
    const refused = await ask(at.app, redemption(code), undefined);
    expect([refused.status, refused.body.error]).toEqual([400, "invalid_request"]);
    expect(refused.body.error_description).toMatch(/DPoP/);
    expect(await boundCount(at.app)).toBe(0);
    const { status, body } = await ask(at.app, redemption(code), key);
    expect(status).toBe(200);
    const again = await ask(at.app, { grant_type: "refresh_token", refresh_token: body.refresh_token }, undefined);
    expect([again.status, again.body.error]).toEqual([400, "invalid_request"]);
    const unknown = await ask(at.app, { grant_type: "refresh_token", refresh_token: "kh_refresh_unknown" }, undefined);
    expect(unknown.body).toEqual(again.body);
  });
});

describe("RFC 9449 §5 with other kinds of sign-in", () => {
  test("a device's tokens are bound to the key with which the device collects them (RFC 8628 §3.4)", async () => {
    const [at, key] = [await prepareDevice(world, { isDpopRequired: true }), await proofKey()];
    const { device_code, user_code } = await startDevice(at, { scope: "openid offline_access" });
    await allowDevice(at.session, user_code);
    const form = { grant_type: DEVICE_CODE_GRANT, device_code };
    const refused = await ask(at.app, form, undefined);
    expect([refused.status, refused.body.error]).toEqual([400, "invalid_request"]);
    const { status, body } = await ask(at.app, form, key);
    expect([status, body.token_type]).toEqual([200, "DPoP"]);
    const next = { grant_type: "refresh_token", refresh_token: body.refresh_token };
    expect((await ask(at.app, next, await proofKey())).body.error).toBe("invalid_grant");
    expect((await ask(at.app, next, key)).status).toBe(200);
  });

  test("a site's metadata document may require bound tokens", async () => {
    const [at, key] = [await visitSite(world, { dpop_bound_access_tokens: true }), await proofKey()];
    const form = { ...redemption(await authorize(at, asked(at))), redirect_uri: at.site.redirectUri };
    expect((await ask(at.app, form, undefined)).body.error).toBe("invalid_request");
    const { body } = await ask(at.app, form, key);
    const proof = await key.proof("GET", world.origin + USERINFO, body.access_token);
    expect(await (await userinfo(body.access_token, proof)).json()).toMatchObject({ sub: at.person.id });
    await at.site.stop();
  });
});

test("S53 a page of another site may send proofs", async () => {
  for (const path of [TOKEN, USERINFO, "/oauth/par"]) {
    const preflight = await fetch(world.origin + path, {
      method: "OPTIONS",
      headers: {
        origin: "https://a-page.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, dpop",
      },
    });
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("dpop");
  }
  const at = await prepare(world);
  const response = await fetch(world.origin + USERINFO, {
    headers: { origin: "https://a-page.example", authorization: "DPoP x", dpop: "x" },
  });
  expect(response.headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
  expect((await asApp(world, at.app, TOKEN, { grant_type: "refresh_token" })).status).toBe(400);
});
