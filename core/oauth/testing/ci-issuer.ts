import { createHmac, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { env } from "#core/env.ts";
import { startHttpsSite } from "#core/testing/https-site.ts";

type Key = { kid: string; alg: string; publicKey: CryptoKey; privateKey: CryptoKey };

export type CiIssuer = Awaited<ReturnType<typeof startCiIssuer>>;

const DISCOVERY = "/.well-known/openid-configuration";
const KEYS = "/keys";

export async function startCiIssuer(path = "") {
  const site = await startHttpsSite();
  const issuer = `${site.origin}${path}`;
  let keys = [await newKey("RS256")];
  let answers: Record<string, (res: ServerResponse) => unknown> = {};

  site.answer(async (req, res) => {
    const asked = (req.url ?? "").slice(path.length);
    const own = answers[asked];
    if (own) return own(res);
    if (asked === DISCOVERY) return json(res, { issuer, jwks_uri: `${issuer}${KEYS}` });
    if (asked === KEYS) return json(res, { keys: await Promise.all(keys.map(publicJwk)) });
    return res.writeHead(404).end();
  });

  function claimsOf(changes: JWTPayload): JWTPayload {
    const now = Math.floor(Date.now() / 1000);
    return { iss: issuer, aud: env().ORIGIN, sub: "job", iat: now, exp: now + 300, jti: randomUUID(), ...changes };
  }

  return {
    ...site,
    issuer,
    sign: (claims: JWTPayload = {}, key = keys.at(-1) as Key) =>
      new SignJWT(claimsOf(claims)).setProtectedHeader({ alg: key.alg, kid: key.kid }).sign(key.privateKey),
    unsigned: (claims: JWTPayload = {}) => `${encoded({ alg: "none" })}.${encoded(claimsOf(claims))}.`,
    hmacSigned: async (claims: JWTPayload = {}) => {
      const [{ kid, publicKey } = {} as Key] = keys;
      const text = `${encoded({ alg: "HS256", kid })}.${encoded(claimsOf(claims))}`;
      return `${text}.${createHmac("sha256", await exportSPKI(publicKey))
        .update(text)
        .digest("base64url")}`;
    },
    newKey,
    rotate: async (alg = "ES256", modulusLength?: number) => {
      keys = [await newKey(alg, modulusLength)];
    },
    answerWith: (which: "discovery" | "keys", answer: (res: ServerResponse) => unknown) => {
      answers = { [which === "discovery" ? DISCOVERY : KEYS]: answer };
    },
    heal: () => {
      answers = {};
    },
  };
}

async function newKey(alg: string, modulusLength = 2_048): Promise<Key> {
  return { kid: randomUUID(), alg, ...(await generateKeyPair(alg, { extractable: true, modulusLength })) };
}

async function publicJwk({ kid, alg, publicKey }: Key) {
  return { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function json(res: ServerResponse, value: unknown): void {
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
