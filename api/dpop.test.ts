import { Hono } from "hono";
import * as client from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { type ProofKey, proofKey } from "#core/oauth/testing/dpop.ts";
import { authorize, type Prepared, prepare, redemption, signIn } from "#core/oauth/testing/sign-in.ts";
import { repeatableLookup, requireHolder } from "./bearer.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let at: Prepared;
let key: ProofKey;
let token: string;
beforeAll(async () => {
  world = await startApiWorld();
  [at, key] = [await prepare(world), await proofKey()];
  const proof = await key.proof("POST", `${world.origin}/oauth/token`);
  const form = { client_id: at.app.clientId, ...redemption(await authorize(at)) };
  token = (await (await world.post("/oauth/token", form, { dpop: proof })).json()).access_token;
});
afterAll(() => world.stop());

const WHOAMI = "/api/whoami-v2";
const address = () => world.origin + WHOAMI;
const ALGS = 'algs="ES256 Ed25519 EdDSA"';

const ask = (authorization: string, dpop?: string, url = address()) =>
  fetch(url, { headers: { authorization, ...(dpop !== undefined && { dpop }) } });

async function expectRefused(response: Response, error: string) {
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toMatch(new RegExp(`^DPoP error="${error}", .*${ALGS}`));
  expect(await response.json()).toMatchObject({ code: "unauthorized" });
}

describe("RFC 9449 §7.1 whoami-v2 with a bound token", () => {
  test("identifies the user by the token and its proof, whatever the letter case of the scheme", async () => {
    for (const scheme of ["DPoP", "dpop"]) {
      const response = await ask(`${scheme} ${token}`, await key.proof("GET", address(), token));
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id: at.person.id });
    }
  });

  test("htu may percent-encode characters that need no encoding (RFC 3986 §6.2.2.2)", async () => {
    const proof = await key.proof("GET", address().replace("whoami", "%77hoami"), token);
    expect((await ask(`DPoP ${token}`, proof)).status).toBe(200);
  });

  test("query and fragment of htu are ignored, and so is the Host header (S110)", async () => {
    const proof = await key.proof("GET", `${address()}?x=1#y`, token);
    const { port } = new URL(world.origin);
    expect((await ask(`DPoP ${token}`, proof, `http://127.0.0.1:${port}${WHOAMI}?z=2`)).status).toBe(200);
    const other = `http://127.0.0.1:${port}${WHOAMI}`;
    await expectRefused(await ask(`DPoP ${token}`, await key.proof("GET", other, token), other), "invalid_dpop_proof");
  });

  test("accepts the requests of openid-client 6", async () => {
    const execute = [client.allowInsecureRequests];
    const config = await client.discovery(new URL(world.origin), at.app.clientId, undefined, client.None(), { execute });
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair("Ed25519"));
    const { code, verifier } = await authorize(at, { dpop_jkt: await DPoP.calculateThumbprint() });
    const parameters = redemption({ code, verifier });
    const tokens = await client.genericGrantRequest(config, "authorization_code", parameters, { DPoP });
    const url = new URL(address());
    const answer = await client.fetchProtectedResource(config, tokens.access_token, url, "GET", null, undefined, { DPoP });
    expect(await answer.json()).toMatchObject({ id: at.person.id });
  });

  const now = () => Math.floor(Date.now() / 1000);
  test.each<[string, () => Promise<string | undefined>]>([
    ["no proof at all", async () => undefined],
    ["an empty proof", async () => ""],
    ["a proof that is not a JWT", async () => "nonsense"],
    ["two proofs", async () => `${await key.proof("GET", address(), token)}, ${await key.proof("GET", address(), token)}`],
    ["a proof of another type", () => key.proof("GET", address(), token, { header: { typ: "JWT" } })],
    ["a proof with a private key", () => key.proof("GET", address(), token, { header: { jwk: { ...key.jwk, d: key.jwk.x } } })],
    ["a proof with a shared key", () => key.proof("GET", address(), token, { header: { jwk: { kty: "oct", k: "c2VjcmV0" } } })],
    ["a proof with a key to which the token is not bound", async () => (await proofKey()).proof("GET", address(), token)],
    [
      "a proof with a public key that did not sign the proof",
      async () => key.proof("GET", address(), token, { header: { jwk: (await proofKey()).jwk } }),
    ],
    ["a proof with an algorithm that is not on the list", async () => (await proofKey("PS256")).proof("GET", address(), token)],
    ["a proof for another method", () => key.proof("POST", address(), token)],
    ["a proof for another path", () => key.proof("GET", `${world.origin}/api/whoami`, token)],
    ["a proof for another host", () => key.proof("GET", `https://evil.example${WHOAMI}`, token)],
    ["a proof without a URL", () => key.proof("GET", "", token)],
    ["a proof for another token", () => key.proof("GET", address(), `${token}x`)],
    ["a proof without a token", () => key.proof("GET", address())],
    ["a proof with an old time", () => key.proof("GET", address(), token, { claims: { iat: now() - 310 } })],
    ["a proof with a future time", () => key.proof("GET", address(), token, { claims: { iat: now() + 120 } })],
    ["a proof without a time", () => key.proof("GET", address(), token, { claims: { iat: undefined } })],
    ["a proof without a jti", () => key.proof("GET", address(), token, { claims: { jti: undefined } })],
    ["a proof with an unknown nonce", () => key.proof("GET", address(), token, { claims: { nonce: "x" } })],
  ])("refuses %s with 401 invalid_dpop_proof", async (_what, make) => {
    await expectRefused(await ask(`DPoP ${token}`, await make()), "invalid_dpop_proof");
  });

  test("a `jti` that contains NUL is accepted once (S51)", async () => {
    const proof = await key.proof("GET", address(), token, { claims: { jti: "a\0b" } });
    expect((await ask(`DPoP ${token}`, proof)).status).toBe(200);
    await expectRefused(await ask(`DPoP ${token}`, proof), "invalid_dpop_proof");
  });

  test("S51 a proof of a megabyte gets a 4xx", async () => {
    const status = await ask(`DPoP ${token}`, "x".repeat(1024 * 1024)).then(
      (response) => response.status,
      () => 431,
    );
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });
});

describe("RFC 9449 §11.1 a proof", () => {
  test("is accepted in only one of twenty simultaneous requests", async () => {
    const proof = await key.proof("GET", address(), token);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`DPoP ${token}`, proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    await expectRefused(await ask(`DPoP ${token}`, proof), "invalid_dpop_proof");
  });

  test("is accepted after a request with this proof was refused for another reason", async () => {
    const proof = await key.proof("GET", address(), token);
    await expectRefused(await ask(`DPoP ${token}x`, proof), "invalid_token");
    expect((await ask(`DPoP ${token}`, proof)).status).toBe(200);
  });
});

test("a long request's later look-ups need no proof if the first look-up verified the proof", async () => {
  const asking = new Hono().get(WHOAMI, async (c) => {
    const holderNow = repeatableLookup(c, () => requireHolder(c));
    const ends = [];
    for (let time = 0; time < 3; time++) {
      ends.push(
        await holderNow().then(
          () => "found",
          () => "refused",
        ),
      );
    }
    return c.json(ends);
  });
  const lookUps = async (proof: string) =>
    (await asking.request(address(), { headers: { authorization: `DPoP ${token}`, dpop: proof } })).json();
  expect(await lookUps(await key.proof("GET", address(), token))).toEqual(["found", "found", "found"]);
  expect(await lookUps(await (await proofKey()).proof("GET", address(), token))).toEqual(["refused", "refused", "refused"]);
});

describe("RFC 9449 §7.2 a bound and an unbound token never pass for each other", () => {
  test("a bound token sent as Bearer gets the error of an unknown token, with or without a proof", async () => {
    for (const proof of [undefined, await key.proof("GET", address(), token)]) {
      const response = await ask(`Bearer ${token}`, proof);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toMatch(new RegExp(`^Bearer error="invalid_token", .*DPoP ${ALGS}$`));
    }
  });

  test("an unbound token of an app or of a person is refused if sent as DPoP", async () => {
    const { tokens } = await signIn(world);
    const personal = await createPersonalAccessToken(
      operatorCommand,
      at.person.id,
      { name: "laptop", scopes: ["read-repos"], expiresInDays: 30 },
      noOrigin,
    );
    for (const plain of [tokens.access_token, personal.token]) {
      expect((await ask(`Bearer ${plain}`)).status).toBe(200);
      await expectRefused(await ask(`DPoP ${plain}`, await key.proof("GET", address(), plain)), "invalid_token");
    }
  });
});

test("S53 a page may send a proof, and read the challenge", async () => {
  const origin = "https://a-page.example";
  const headers = { origin, "access-control-request-method": "GET", "access-control-request-headers": "authorization, dpop" };
  const preflight = await fetch(address(), { method: "OPTIONS", headers });
  expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("dpop");
  const refused = await fetch(address(), { headers: { origin, authorization: `DPoP ${token}` } });
  expect(refused.headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
});
