import { quoted, type SnippetApp } from "./snippet-app.ts";

/** A whole server in one file, on openid-client. */
export function nodeSnippet(app: SnippetApp): string {
  const { issuer, clientId, redirectUri, scope, key, isParRequired, isDpopRequired } = app;
  const options = issuer.startsWith("http:") ? "\n  { execute: [client.allowInsecureRequests] }," : "";
  const proof = isDpopRequired ? ", { DPoP }" : "";
  return `// npm install openid-client${key ? " jose" : ""}
import { createServer } from "node:http";${key ? '\nimport { importPKCS8 } from "jose";' : ""}
import * as client from "openid-client";
${key ? `\nconst key = await importPKCS8(process.env.CLIENT_KEY, ${quoted(key.algorithm)});` : ""}
const redirectUri = ${quoted(redirectUri)};
const config = await client.discovery(
  new URL(${quoted(issuer)}),
  ${quoted(clientId)},
  undefined,
  ${authenticationOf(app)},${options}
);${isDpopRequired ? "\nconst DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair()); // one key for each visitor" : ""}
const pending = new Map(); // by state; keep it in the visitor's session

async function startSignIn(response) {
  const state = client.randomState();
  const verifier = client.randomPKCECodeVerifier();
  pending.set(state, verifier);
  const url = ${isParRequired ? "await client.buildAuthorizationUrlWithPAR" : "client.buildAuthorizationUrl"}(config, {
    redirect_uri: redirectUri,
    scope: ${quoted(scope)},
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",${isDpopRequired ? "\n    dpop_jkt: await DPoP.calculateThumbprint()," : ""}
  });
  response.writeHead(303, { location: url.href }).end();
}

async function finishSignIn(url, response) {
  const state = url.searchParams.get("state");
  const checks = { expectedState: state, pkceCodeVerifier: pending.get(state) };
  pending.delete(state);
  const tokens = await client.authorizationCodeGrant(config, url, checks${isDpopRequired ? ", undefined" : ""}${proof});
  const sub = tokens.claims()?.sub ?? client.skipSubjectCheck;
  const user = await client.fetchUserInfo(config, tokens.access_token, sub${proof});
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

function authenticationOf({ hasSecret, key }: SnippetApp): string {
  if (key) return key.kid === null ? "client.PrivateKeyJwt(key)" : `client.PrivateKeyJwt({ key, kid: ${quoted(key.kid)} })`;
  return hasSecret ? "client.ClientSecretBasic(process.env.CLIENT_SECRET)" : "client.None()";
}
