import { resolve } from "node:path";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { etag } from "hono/etag";
import { secureHeaders } from "hono/secure-headers";
import * as client from "openid-client";
import { clientId, DOCUMENT_PATH, metadataDocument, redirectUri } from "./metadata-document.ts";
import { errorPage, homePage } from "./pages.ts";
import { endSession, findSignedIn, type Profile, rememberPending, type SignedIn, signIn, takePending } from "./session.ts";
import { isLoopback, type Settings } from "./settings.ts";

const SCOPE = "openid profile email read-repos";

/** How long the issuer may keep the document. A site that seldom changes can use `max-age=86400`. */
const DOCUMENT_CACHING = "public, max-age=30";

/** A site that no issuer knows before the first sign-in. The tokens stay here, and the browser only gets a session cookie. */
export function metadataDocumentSite(settings: Settings): Hono {
  const { issuer } = settings;
  const site = new Hono();
  const look = { ...settings, document: metadataDocument(settings) };

  site.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", issuer.origin],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
      referrerPolicy: "no-referrer",
      // No HSTS, because this host may later use plain http.
      strictTransportSecurity: false,
      // Browsers load the logo from the issuer.
      crossOriginResourcePolicy: "cross-origin",
    }),
  );

  // Discovery happens once. If the issuer was unavailable, the next request tries again.
  let discovered: Promise<client.Configuration> | undefined;
  function configuration(): Promise<client.Configuration> {
    discovered ??= client
      .discovery(issuer, clientId(settings), undefined, client.None(), {
        // These checks verify the ID token's signature, although the token comes directly from the issuer.
        execute: [client.enableNonRepudiationChecks, ...(isLoopback(issuer) ? [client.allowInsecureRequests] : [])],
      })
      .catch((error) => {
        discovered = undefined;
        throw error;
      });
    return discovered;
  }

  // 1. This document is the whole registration. The issuer fetches it when the first user signs in.
  site.get(DOCUMENT_PATH, etag(), (c) => {
    c.header("Cache-Control", DOCUMENT_CACHING);
    return c.json(look.document);
  });

  site.get("/", (c) => c.html(homePage(look, findSignedIn(c))));
  site.get(
    "/assets/*",
    serveStatic({ root: import.meta.dirname }),
    serveStatic({ root: resolve(import.meta.dirname, "../look") }),
  );

  // 2. Redirect the browser. State, nonce and verifier stay in this browser's session, so only this browser can use the code.
  site.get("/sign-in", async (c) => {
    const state = client.randomState();
    const pending = { codeVerifier: client.randomPKCECodeVerifier(), nonce: client.randomNonce(), scope: SCOPE };
    const url = client.buildAuthorizationUrl(await configuration(), {
      redirect_uri: redirectUri(settings),
      scope: pending.scope,
      state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: "S256",
    });
    rememberPending(c, state, pending);
    return c.redirect(url.href);
  });

  // 3. The browser returns. `authorizationCodeGrant` checks state and issuer, redeems the code, and checks the ID token.
  site.get(new URL(redirectUri(settings)).pathname, async (c) => {
    const state = c.req.query("state") ?? "";
    const pending = takePending(c, state);
    if (!pending) return c.html(errorPage(look, "unknown_state"), 400);
    const config = await configuration();
    const answer = new URL(new URL(c.req.url).search, redirectUri(settings));
    const tokens = await client.authorizationCodeGrant(config, answer, {
      pkceCodeVerifier: pending.codeVerifier,
      expectedState: state,
      expectedNonce: pending.nonce,
      idTokenExpected: true,
    });
    signIn(c, await readSignedIn(config, tokens, { sub: tokens.claims()?.sub ?? "", scope: pending.scope }));
    return c.redirect("/");
  });

  // 4. Call the API with the access token. The token becomes invalid at once if the user revokes the app.
  site.post("/call-api", async (c) => {
    const signedIn = findSignedIn(c);
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

  // 5. Sign out, and revoke the token, so that a copy of it is worthless. The site's own session ends even if that fails.
  site.post("/sign-out", async (c) => {
    const signedIn = findSignedIn(c);
    endSession(c);
    if (signedIn) {
      await configuration()
        .then((config) => client.tokenRevocation(config, signedIn.accessToken))
        .catch((error) => console.error(error));
    }
    return c.redirect("/", 303);
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
    expiresAt: seconds === undefined ? undefined : new Date(Date.now() + seconds * 1000),
    // Without `scope` in the response, everything requested was granted (RFC 6749 §5.1).
    scopes: (tokens.scope ?? scope).split(" "),
    // Fails unless userinfo is about the user whom the ID token names (OpenID Connect Core §5.3.2).
    profile: (await client.fetchUserInfo(config, tokens.access_token, sub)) as unknown as Profile,
  };
}
