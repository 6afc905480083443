import { quoted, type SnippetApp } from "./snippet-app.ts";

/** A whole server in one file, on openid-client. */
export function nodeSnippet({ issuer, clientId, hasSecret, redirectUri, scope }: SnippetApp): string {
  const authentication = hasSecret ? "client.ClientSecretBasic(process.env.CLIENT_SECRET)" : "client.None()";
  const options = issuer.startsWith("http:") ? "\n  { execute: [client.allowInsecureRequests] }," : "";
  return `// npm install openid-client
import { createServer } from "node:http";
import * as client from "openid-client";

const redirectUri = ${quoted(redirectUri)};
const config = await client.discovery(
  new URL(${quoted(issuer)}),
  ${quoted(clientId)},
  undefined,
  ${authentication},${options}
);
const pending = new Map(); // by state; keep it in the visitor's session

async function startSignIn(response) {
  const state = client.randomState();
  const verifier = client.randomPKCECodeVerifier();
  pending.set(state, verifier);
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: ${quoted(scope)},
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  response.writeHead(303, { location: url.href }).end();
}

async function finishSignIn(url, response) {
  const state = url.searchParams.get("state");
  const checks = { expectedState: state, pkceCodeVerifier: pending.get(state) };
  pending.delete(state);
  const tokens = await client.authorizationCodeGrant(config, url, checks);
  const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? client.skipSubjectCheck);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(user));
}

createServer(async (request, response) => {
  const url = new URL(request.url, redirectUri);
  try {
    if (url.pathname === new URL(redirectUri).pathname && url.searchParams.has("state")) await finishSignIn(url, response);
    else await startSignIn(response);
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
}).listen(new URL(redirectUri).port || 8080);
`;
}
