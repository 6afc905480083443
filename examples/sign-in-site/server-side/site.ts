import { resolve } from "node:path";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import * as client from "openid-client";
import { isLoopback, type Settings } from "../settings.ts";
import { errorPage, homePage, USUAL_SCOPES } from "./pages.ts";
import { endSession, findSession, type Profile, rememberPending, type SignedIn, signIn, takePending } from "./session.ts";

/** Any other scope in a link is ignored. */
const SCOPES = ["openid", "profile", "email", "read-repos", "write-discussions", "offline_access"];
const PROMPTS = ["none", "login", "consent"];

/** A confidential client. The tokens stay here, and the browser only gets a session cookie. */
export function serverSideSite(
  { issuer, issuerName, knownOrganizations }: Settings,
  { port, clientId, clientSecret }: NonNullable<Settings["serverSide"]>,
): Hono {
  const site = new Hono();
  const origin = `http://127.0.0.1:${port}`;
  const redirectUri = `${origin}/callback`;
  const look = { issuerName, knownOrganizations };

  site.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", issuer.origin],
        formAction: ["'self'", issuer.origin],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
      referrerPolicy: "no-referrer",
    }),
  );

  // Discovery happens once. If the issuer was unavailable, the next request tries again.
  let discovered: Promise<client.Configuration> | undefined;
  function configuration(): Promise<client.Configuration> {
    discovered ??= client
      .discovery(issuer, clientId, undefined, client.ClientSecretBasic(clientSecret), {
        // These checks verify the ID token's signature, although the token comes directly from the issuer.
        execute: [client.enableNonRepudiationChecks, ...(isLoopback(issuer) ? [client.allowInsecureRequests] : [])],
      })
      .catch((error) => {
        discovered = undefined;
        throw error;
      });
    return discovered;
  }

  site.get("/", (c) => c.html(homePage(look, findSession(c)?.signedIn)));
  for (const root of ["..", "../../look"]) site.get("/assets/*", serveStatic({ root: resolve(import.meta.dirname, root) }));

  // 1. Redirect the browser. State, nonce and verifier stay in this browser's session, so only this browser can use the code.
  site.get("/sign-in", async (c) => {
    const asked = c.req.queries("scope")?.filter((scope) => SCOPES.includes(scope)) ?? USUAL_SCOPES;
    const prompt = PROMPTS.find((word) => word === c.req.query("prompt"));
    const orgId = c.req.query("organization");
    const state = client.randomState();
    const pending = {
      codeVerifier: client.randomPKCECodeVerifier(),
      nonce: client.randomNonce(),
      scope: [...new Set(["openid", "profile", ...asked])].join(" "),
    };
    const url = client.buildAuthorizationUrl(await configuration(), {
      redirect_uri: redirectUri,
      scope: pending.scope,
      state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: "S256",
      ...(orgId && { orgIds: orgId }),
      ...(prompt && { prompt }),
    });
    rememberPending(c, state, pending);
    return c.redirect(url.href);
  });

  // 2. The browser returns. `authorizationCodeGrant` checks state and issuer, redeems the code, and checks the ID token.
  site.get("/callback", async (c) => {
    const state = c.req.query("state") ?? "";
    const pending = takePending(c, state);
    if (!pending) return c.html(errorPage(look, "unknown_state"), 400);
    const config = await configuration();
    const answer = new URL(new URL(c.req.url).search, redirectUri);
    const tokens = await client.authorizationCodeGrant(config, answer, {
      pkceCodeVerifier: pending.codeVerifier,
      expectedState: state,
      expectedNonce: pending.nonce,
      idTokenExpected: true,
    });
    signIn(c, await readSignedIn(config, tokens, { sub: tokens.claims()?.sub ?? "", scope: pending.scope }));
    return c.redirect("/");
  });

  // 3. Call the API with the access token. The token becomes invalid at once if the user revokes the app.
  site.post("/call-api", async (c) => {
    const signedIn = findSession(c)?.signedIn;
    if (!signedIn) return c.redirect("/", 303);
    const api = new URL("/api/whoami-v2", issuer);
    try {
      const response = await client.fetchProtectedResource(await configuration(), signedIn.accessToken, api, "GET");
      if (!response.ok) throw new Error(`The API responded with ${response.status}`);
      return c.html(homePage(look, signedIn, { answer: await response.json() }));
    } catch (error) {
      if (!(error instanceof client.WWWAuthenticateChallengeError) || error.status !== 401) throw error;
      return c.html(homePage(look, signedIn, { isRefused: true }));
    }
  });

  site.post("/renew", async (c) => {
    const signedIn = findSession(c)?.signedIn;
    if (!signedIn?.refreshToken) return c.redirect("/", 303);
    const config = await configuration();
    const tokens = await client.refreshTokenGrant(config, signedIn.refreshToken);
    const renewed = await readSignedIn(config, tokens, { sub: signedIn.profile.sub, scope: signedIn.scopes.join(" ") });
    // An issuer that does not rotate refresh tokens sends no new one, and seldom a new ID token. The old tokens stay valid.
    signIn(c, {
      ...renewed,
      refreshToken: renewed.refreshToken ?? signedIn.refreshToken,
      idToken: renewed.idToken ?? signedIn.idToken,
    });
    return c.redirect("/", 303);
  });

  // 4. Sign out of this site, and then of the issuer, which sends the user back here.
  site.post("/sign-out", async (c) => {
    const idToken = findSession(c)?.signedIn?.idToken;
    endSession(c);
    if (!idToken) return c.redirect("/", 303);
    const parameters = { id_token_hint: idToken, post_logout_redirect_uri: `${origin}/` };
    return c.redirect(client.buildEndSessionUrl(await configuration(), parameters).href, 303);
  });

  site.onError((error, c) => {
    // The log has the issuer's message. The user reads a sentence of this site.
    console.error(error);
    if (error instanceof client.AuthorizationResponseError) return c.html(errorPage(look, error.error), 403);
    if (error instanceof client.ResponseBodyError) return c.html(errorPage(look, error.error), 502);
    return c.html(errorPage(look, "unreachable"), 502);
  });

  return site;
}

async function readSignedIn(
  config: client.Configuration,
  tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers,
  { sub, scope }: { sub: string; scope: string },
): Promise<SignedIn> {
  const seconds = tokens.expiresIn();
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    idToken: tokens.id_token,
    expiresAt: seconds === undefined ? undefined : new Date(Date.now() + seconds * 1000),
    // Without `scope` in the response, everything requested was granted (RFC 6749 §5.1).
    scopes: (tokens.scope ?? scope).split(" "),
    // Fails unless userinfo is about the user whom the ID token names (OpenID Connect Core §5.3.2).
    profile: (await client.fetchUserInfo(config, tokens.access_token, sub)) as unknown as Profile,
  };
}
