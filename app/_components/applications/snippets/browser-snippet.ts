import { quoted, type SnippetApp } from "./snippet-app.ts";

/** A page without a server, on oauth4webapi. */
export function browserSnippet({ issuer, clientId, redirectUri, scope }: SnippetApp): string {
  const insecure = issuer.startsWith("http:") ? "{ [oauth.allowInsecureRequests]: true }" : "";
  const last = insecure && `, ${insecure}`;
  return `// npm install oauth4webapi
import * as oauth from "oauth4webapi";

const issuer = new URL(${quoted(issuer)});
const client = { client_id: ${quoted(clientId)} };
const redirectUri = ${quoted(redirectUri)};
const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer${last}));

/** On the button: leaves for the sign-in page. */
export async function signIn() {
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  sessionStorage.setItem("sign-in", JSON.stringify({ state, verifier }));
  const url = new URL(server.authorization_endpoint);
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: ${quoted(scope)},
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  location.assign(url);
}

/** On the page of the redirect URI: who signed in, and the token to act with. */
export async function finishSignIn() {
  const { state, verifier } = JSON.parse(sessionStorage.getItem("sign-in"));
  const params = oauth.validateAuthResponse(server, client, new URL(location.href), state);
  const answer = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), params, redirectUri, verifier${last});
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer);
  const userinfo = await oauth.userInfoRequest(server, client, tokens.access_token${last});
  return { user: await userinfo.json(), accessToken: tokens.access_token };
}
`;
}
