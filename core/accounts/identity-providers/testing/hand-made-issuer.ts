import { once } from "node:events";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { type HttpsSite, startHttpsSite } from "#core/testing/https-site.ts";

type Forgery = {
  claims?: (honest: JWTPayload) => JWTPayload;
  idToken?: (claims: JWTPayload) => string | Promise<string>;
  discovery?: (honest: Record<string, unknown>) => unknown;
  keys?: readonly object[];
  delayMs?: number;
};

type HandMadeIssuer = HttpsSite & {
  behave(forgery: Forgery): void;
  respondTo(authorizationUrl: string, changes?: Record<string, string | undefined>): URLSearchParams;
  sign(claims: JWTPayload): Promise<string>;
};

const user = { sub: "u-1", email: "ada@upstream.test", email_verified: true, preferred_username: "ada", name: "Ada L." };

export async function startHandMadeIssuer(): Promise<HandMadeIssuer> {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256", use: "sig" }] };
  const site = await startHttpsSite();
  const nonces = new Map<string, { nonce: string; challenge: string; clientId: string }>();
  let forgery: Forgery = {};

  const sign = (claims: JWTPayload) => new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "k" }).sign(privateKey);

  site.answer(async (req, res) => {
    const { pathname } = new URL(req.url ?? "", site.origin);
    const json = (body: unknown, status = 200) =>
      res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (pathname === "/.well-known/openid-configuration") {
      const honest = {
        issuer: site.origin,
        authorization_endpoint: `${site.origin}/authorize`,
        token_endpoint: `${site.origin}/token`,
        jwks_uri: `${site.origin}/jwks`,
        id_token_signing_alg_values_supported: ["none", "HS256", "RS256"],
        authorization_response_iss_parameter_supported: true,
      };
      return json(forgery.discovery ? await forgery.discovery(honest) : honest);
    }
    if (pathname === "/jwks") return json(forgery.keys ? { keys: forgery.keys } : jwks);
    if (pathname !== "/token") return json({}, 404);
    let body = "";
    req.on("data", (chunk) => {
      body += chunk;
    });
    await once(req, "end");
    const form = new URLSearchParams(body);
    const asked = nonces.get(form.get("code") ?? "");
    if (!asked || (await challengeOf(form.get("code_verifier") ?? "")) !== asked.challenge) {
      return json({ error: "invalid_grant" }, 400);
    }
    nonces.delete(form.get("code") ?? "");
    const now = Math.floor(Date.now() / 1000);
    const honest = {
      ...user,
      iss: site.origin,
      aud: asked.clientId,
      nonce: asked.nonce,
      iat: now,
      exp: now + 300,
      auth_time: now,
    };
    const claims = forgery.claims?.(honest) ?? honest;
    const idToken = await (forgery.idToken ?? sign)(claims);
    setTimeout(() => json({ access_token: "a", token_type: "Bearer", id_token: idToken }), forgery.delayMs ?? 0);
  });

  return {
    ...site,
    sign,
    behave: (next) => {
      forgery = next;
    },
    respondTo(authorizationUrl, changes = {}) {
      const asked = new URL(authorizationUrl).searchParams;
      const code = `code-${nonces.size}-${Math.random()}`;
      nonces.set(code, {
        nonce: asked.get("nonce") ?? "",
        challenge: asked.get("code_challenge") ?? "",
        clientId: asked.get("client_id") ?? "",
      });
      const answer = { code, state: asked.get("state") ?? "", iss: site.origin, ...changes };
      return new URLSearchParams(Object.entries(answer).filter((entry): entry is [string, string] => entry[1] !== undefined));
    },
  };
}

async function challengeOf(verifier: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))).toString("base64url");
}
