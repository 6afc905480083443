import { inQuotationMarks as shell } from "../shell-word.ts";

export type SnippetApp = Readonly<{
  issuer: string;
  clientId: string;
  hasSecret: boolean;
  key?: Readonly<{ algorithm: string; kid: string | null }>;
  isParRequired?: boolean;
  isDpopRequired?: boolean;
  /** Under FAPI 2.0 (docs/decisions/094), ID tokens are signed with ES256, which a client library must expect. */
  isFapi?: boolean;
  /** Separated by spaces. */
  scope: string;
  redirectUri: string;
}>;

/** True if the app requires features that most libraries lack. Only the example for Node then works. */
export function isNodeOnly({ key, isParRequired, isDpopRequired }: SnippetApp): boolean {
  return key !== undefined || Boolean(isParRequired) || Boolean(isDpopRequired);
}

const SAMPLE_PORT = 8080;
const PLACEHOLDER = "https://app.example.com/oauth/callback";

/** Prefers a redirect URI on the developer's own machine. */
export function sampleRedirectUri(redirectUris: readonly string[]): string {
  const local = redirectUris.find((uri) => uri.startsWith("http:"));
  if (!local) return redirectUris[0] ?? PLACEHOLDER;
  const url = new URL(local);
  if (url.port) return local;
  // The service accepts any port of a loopback address (RFC 8252 §7.3).
  return local.replace(url.host, `${url.host}:${SAMPLE_PORT}`);
}

function quoted(value: string): string {
  return JSON.stringify(value);
}

export function browserSnippet({ issuer, clientId, redirectUri, scope }: SnippetApp): string {
  const insecure = issuer.startsWith("http:") ? "{ [oauth.allowInsecureRequests]: true }" : "";
  const last = insecure && `, ${insecure}`;
  return `// npm install oauth4webapi
import * as oauth from "oauth4webapi";

const issuer = new URL(${quoted(issuer)});
const client = { client_id: ${quoted(clientId)} };
const redirectUri = ${quoted(redirectUri)};
const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer${last}));

/** For the button: redirects to the sign-in page. */
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

/** On the redirect URI's page: returns the user and an access token. */
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

export function curlSnippet({ issuer, clientId, hasSecret, redirectUri, scope }: SnippetApp): string {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: "code",
    redirect_uri: redirectUri,
    scope,
    state: "demo",
  });
  const credentials = hasSecret ? `-u ${shell(clientId)}:"$CLIENT_SECRET"` : `-d client_id=${shell(clientId)}`;
  return `# 1. Open the URL that this prints, sign in, and copy the code from the URL to which you are redirected.
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
echo ${shell(`${issuer}/oauth/authorize?${query}`)}"&code_challenge=$challenge&code_challenge_method=S256"

# 2. Within a minute, exchange the code for tokens.
read -r -p "code: " code
curl ${credentials} -d grant_type=authorization_code -d code="$code" -d code_verifier="$verifier" \\
  --data-urlencode redirect_uri=${shell(redirectUri)} ${shell(`${issuer}/oauth/token`)}

# 3. Get the user's profile.
read -r -p "access token: " token
curl -H "Authorization: Bearer $token" ${shell(`${issuer}/oauth/userinfo`)}
`;
}

export function deviceSnippet({ issuer, clientId, hasSecret, scope }: SnippetApp): string {
  const authentication = hasSecret ? "client.ClientSecretBasic(process.env.CLIENT_SECRET)" : "client.None()";
  const options = issuer.startsWith("http:") ? "\n  { execute: [client.allowInsecureRequests] }," : "";
  return `// npm install openid-client
import * as client from "openid-client";

const config = await client.discovery(
  new URL(${quoted(issuer)}),
  ${quoted(clientId)},
  undefined,
  ${authentication},${options}
);
const device = await client.initiateDeviceAuthorization(config, { scope: ${quoted(scope)} });
console.log(\`Open \${device.verification_uri} and enter \${device.user_code}\`);
console.log(\`Or open \${device.verification_uri_complete}, for example from a QR code\`);

try {
  const tokens = await client.pollDeviceAuthorizationGrant(config, device);
  const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? client.skipSubjectCheck);
  console.log(JSON.stringify(user));
} catch (error) {
  // access_denied: the person refused; expired_token: nobody answered in time.
  console.error(error.error ?? error.message);
  process.exitCode = 1;
}
`;
}

type ExchangeSample = Readonly<{ issuer: string; clientId: string; tokenType: string; email: string }>;

/** The secret comes from the environment, so that the shell's history does not contain it. */
export function exchangeSnippet({ issuer, clientId, tokenType, email }: ExchangeSample): string {
  return `curl -u ${shell(clientId)}:"$CLIENT_SECRET" ${shell(`${issuer}/oauth/token`)} \\
  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\
  -d subject_token_type=${tokenType} \\
  --data-urlencode subject_token=${shell(email)}
`;
}

type NextAuthSnippetApp = SnippetApp & Readonly<{ brand: string }>;

export function nextAuthSnippet({ issuer, clientId, hasSecret, scope, brand }: NextAuthSnippetApp): string {
  const id =
    brand
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "sign-in";
  const credentials = hasSecret
    ? `clientId: ${quoted(clientId)},
      clientSecret: process.env.CLIENT_SECRET,`
    : `clientId: ${quoted(clientId)},
      client: { token_endpoint_auth_method: "none" },`;
  return `// npm install next-auth
// app/api/auth/[...nextauth]/route.ts
// Redirect URI to register: <your site>/api/auth/callback/${id}
// Environment: NEXTAUTH_URL=<your site>, NEXTAUTH_SECRET=<output of: openssl rand -base64 32>
import NextAuth from "next-auth";

const handler = NextAuth({
  providers: [
    {
      id: ${quoted(id)},
      name: ${quoted(brand)},
      type: "oauth",
      wellKnown: ${quoted(`${issuer}/.well-known/openid-configuration`)},
      ${credentials}
      authorization: { params: { scope: ${quoted(scope)} } },
      checks: ["pkce", "state"],
      idToken: true,
      profile: ({ sub, name, email, picture }) => ({ id: sub, name, email, image: picture }),
    },
  ],
});

export { handler as GET, handler as POST };
`;
}

export function nodeSnippet(app: SnippetApp): string {
  const { issuer, clientId, redirectUri, scope, key, isParRequired, isDpopRequired, isFapi } = app;
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
  ${isFapi ? '{ id_token_signed_response_alg: "ES256" }' : "undefined"},
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

export function pythonSnippet({ issuer, clientId, hasSecret, redirectUri, scope }: SnippetApp): string {
  const { pathname, port } = new URL(redirectUri);
  const secret = hasSecret ? `client_secret=os.environ["CLIENT_SECRET"],` : `token_endpoint_auth_method="none",`;
  return `# pip install authlib flask requests
import os
from authlib.integrations.flask_client import OAuth
from flask import Flask

REDIRECT_URI = ${quoted(redirectUri)}

app = Flask(__name__)
app.secret_key = os.urandom(32)  # keep one of your own
provider = OAuth(app).register(
    "provider",
    server_metadata_url=${quoted(`${issuer}/.well-known/openid-configuration`)},
    client_id=${quoted(clientId)},
    ${secret}
    client_kwargs={"scope": ${quoted(scope)}, "code_challenge_method": "S256"},
)


@app.get("/sign-in")
def sign_in():
    return provider.authorize_redirect(REDIRECT_URI)


@app.get(${quoted(pathname)})
def finish_sign_in():
    token = provider.authorize_access_token()
    return provider.userinfo(token=token)


app.run(port=${port || 8080})
`;
}
