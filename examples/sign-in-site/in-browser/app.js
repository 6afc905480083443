import * as oauth from "/modules/oauth4webapi.js";
import { showApiAnswer, showError, showSignedIn, showSignedOut } from "/page.js";
import { clientId, isInsecureAllowed, issuer, knownOrganizations } from "/settings.js";

/** A public client without a server, with PKCE, state and nonce. The code verifier ties the response to this browser. */
const client = { client_id: clientId };
const clientAuthentication = oauth.None();
const redirectUri = `${location.origin}/callback`;
const usualScopes = ["email", "read-repos"];
/** Plain http is allowed only for an issuer on this machine. */
const options = { [oauth.allowInsecureRequests]: isInsecureAllowed };

/** Any script on this origin could read the browser's storage, so the tokens are only in this variable. */
let signedIn;

/** Discovery happens once. If the issuer was unavailable, the next request tries again. */
let discovered;
function authorizationServer() {
  discovered ??= oauth
    .discoveryRequest(new URL(issuer), options)
    .then((response) => oauth.processDiscoveryResponse(new URL(issuer), response))
    .catch((error) => {
      discovered = undefined;
      throw error;
    });
  return discovered;
}

/** 1. Go to the issuer. State, nonce and verifier stay in this tab: only this tab can use the response. */
async function signIn({ scopes, organization, prompt }) {
  const as = await authorizationServer();
  const state = oauth.generateRandomState();
  const pending = {
    codeVerifier: oauth.generateRandomCodeVerifier(),
    nonce: oauth.generateRandomNonce(),
    scope: ["openid", "profile", ...scopes].join(" "),
  };
  sessionStorage.setItem(`sign-in:${state}`, JSON.stringify(pending));
  const url = new URL(as.authorization_endpoint);
  url.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: pending.scope,
    state,
    nonce: pending.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.codeVerifier),
    code_challenge_method: "S256",
    ...(organization && { orgIds: organization }),
    ...(prompt && { prompt }),
  }).toString();
  location.assign(url);
}

/** 2. Come back: check the response, redeem the code, and check the ID token with its nonce and signature. */
async function finishSignIn() {
  const answer = new URL(location.href);
  // Removes the code from the address bar and the history at once.
  history.replaceState(null, "", "/");
  const key = `sign-in:${answer.searchParams.get("state")}`;
  const pending = JSON.parse(sessionStorage.getItem(key));
  sessionStorage.removeItem(key);
  if (!pending) return showError("unknown_state");

  const as = await authorizationServer();
  const parameters = oauth.validateAuthResponse(as, client, answer, key.slice("sign-in:".length));
  const { codeVerifier, nonce: expectedNonce, scope } = pending;
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    clientAuthentication,
    parameters,
    redirectUri,
    codeVerifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, { expectedNonce, requireIdToken: true });
  await oauth.validateApplicationLevelSignature(as, response, options);
  await accept(tokens, { sub: oauth.getValidatedIdTokenClaims(tokens).sub, scope });
}

async function accept(tokens, { sub, scope }) {
  const as = await authorizationServer();
  const response = await oauth.userInfoRequest(as, client, tokens.access_token, options);
  signedIn = {
    // An issuer that does not rotate sends no new refresh token, and seldom a new ID token. The old ones stay valid.
    ...signedIn,
    ...tokens,
    // Without `scope` in the response, everything requested was granted (RFC 6749 §5.1).
    scope: tokens.scope ?? scope,
    expiresAt: new Date(Date.now() + tokens.expires_in * 1000),
    // Fails unless userinfo is about the user whom the ID token names (OpenID Connect Core §5.3.2).
    profile: await oauth.processUserInfoResponse(as, client, sub, response),
  };
  showSignedIn(signedIn);
}

/** 3. Call the API with the access token. The token becomes invalid at once if the user revokes the app. */
async function callApi() {
  const url = new URL("/api/whoami-v2", issuer);
  const response = await oauth.protectedResourceRequest(signedIn.access_token, "GET", url, undefined, undefined, options);
  showApiAnswer(await response.json());
}

async function renew() {
  const as = await authorizationServer();
  const { refresh_token, profile, scope } = signedIn;
  const response = await oauth.refreshTokenGrantRequest(as, client, clientAuthentication, refresh_token, options);
  await accept(await oauth.processRefreshTokenResponse(as, client, response), { sub: profile.sub, scope });
}

/** 4. Sign out: leaving this page ends its session, and the issuer ends its own and sends the user back here. */
async function signOut() {
  const url = new URL((await authorizationServer()).end_session_endpoint);
  url.search = new URLSearchParams({
    id_token_hint: signedIn.id_token,
    post_logout_redirect_uri: `${location.origin}/`,
  }).toString();
  location.assign(url);
}

function attempt(step) {
  return step().catch((error) => {
    console.error(error);
    if (error instanceof oauth.WWWAuthenticateChallengeError && error.status === 401) return showError("revoked");
    showError(
      error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError ? error.error : "unreachable",
    );
  });
}

function onClick(id, step) {
  document.getElementById(id).addEventListener("click", () => attempt(step));
}

onClick("sign-in", () => signIn({ scopes: usualScopes }));
onClick("call-api", callApi);
onClick("renew", renew);
onClick("sign-out", signOut);
document.getElementById("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  attempt(() => signIn({ scopes: form.getAll("scope"), organization: form.get("organization"), prompt: form.get("prompt") }));
});

showSignedOut(knownOrganizations);
if (location.pathname === "/callback") await attempt(finishSignIn);
