import * as oauth from "oauth4webapi";
import { isCostlyKey } from "../../crypto/costly-key.ts";
import { discoverIssuer } from "./discover-issuer.ts";
import { fetchFrom, isLocalInstallation } from "./fetch-from-provider.ts";
import { clientSecretOf, type IdentityProvider, redirectUriOf } from "./identity-provider.ts";
import { codeVerifierOf, type Flow, nonceOf } from "./sign-in-flow.ts";
import { isStorableSubject, shownText, UnacceptableResponse, type UpstreamIdentity } from "./upstream-identity.ts";

const CLOCK_TOLERANCE_SECONDS = 30;

/** Checks `iss` (RFC 9207), `state`, the PKCE verifier and the ID token (OpenID Connect Core §3.1.3.7). */
export async function identifyByOidc(
  provider: IdentityProvider,
  parameters: URLSearchParams,
  flow: Flow,
): Promise<UpstreamIdentity> {
  const { metadata, keys } = await discoverIssuer(provider);
  const client: oauth.Client = { client_id: provider.clientId, [oauth.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
  const options = {
    [oauth.customFetch]: fetchFrom(provider),
    [oauth.allowInsecureRequests]: isLocalInstallation(),
  };
  const callback = oauth.validateAuthResponse(metadata, client, parameters, flow.state);
  const response = await oauth.authorizationCodeGrantRequest(
    metadata,
    client,
    clientAuthentication(metadata, clientSecretOf(provider)),
    callback,
    redirectUriOf(provider.slug),
    codeVerifierOf(flow),
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(metadata, client, response, {
    expectedNonce: nonceOf(flow),
    requireIdToken: true,
  });
  // The signature is checked too, because the provider may terminate TLS on another server than the one that signs.
  await oauth.validateApplicationLevelSignature(metadata, response, {
    ...options,
    [oauth.customFetch]: withoutCostlyKeys(fetchFrom(provider)),
    [oauth.jwksCache]: keys,
  });
  const claims = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken;
  if (!isStorableSubject(claims.sub)) throw new UnacceptableResponse("the ID token has no valid sub");
  return identityOf(claims.email === undefined ? { ...(await userinfo()), ...claims } : claims);

  /** Many issuers do not put the email address into the ID token (OpenID Connect Core §5.4). */
  async function userinfo(): Promise<Record<string, unknown>> {
    if (metadata.userinfo_endpoint === undefined) return {};
    const answer = await oauth.userInfoRequest(metadata, client, tokens.access_token, options);
    return oauth.processUserInfoResponse(metadata, client, claims.sub, answer);
  }
}

/** Any organization's administrator may name an issuer whose keys take too long to verify with (S137). */
function withoutCostlyKeys(fetchKeys: ReturnType<typeof fetchFrom>): typeof fetchKeys {
  return async (...asked) => {
    const response = await fetchKeys(...asked);
    const set = (await response
      .clone()
      .json()
      .catch(() => undefined)) as { keys?: unknown } | null | undefined;
    if (!Array.isArray(set?.keys)) return response;
    const keys = set.keys.filter((key) => !isCostlyKey(key ?? {}));
    return new Response(JSON.stringify({ ...set, keys }), { status: response.status, headers: response.headers });
  };
}

function identityOf(claims: Record<string, unknown>): UpstreamIdentity {
  const { sub, email, email_verified, preferred_username, name, auth_time } = claims;
  // Some providers send the string "true", which does not count as verified.
  const verified = email_verified === true && typeof email === "string" ? email : null;
  return {
    subject: sub as string,
    displayName: shownText(email) ?? shownText(preferred_username) ?? shownText(name) ?? shownText(sub) ?? "an account",
    email: verified,
    username: shownText(preferred_username)?.split("@")[0] ?? shownText(email)?.split("@")[0] ?? null,
    fullName: shownText(name),
    authenticatedAt: isTime(auth_time) ? new Date(auth_time * 1000) : null,
  };
}

/** Whole seconds since 1970 (OpenID Connect Core §2), within the range of a date. */
const isTime = (value: unknown): value is number => typeof value === "number" && value >= 0 && value < 1e11;

function clientAuthentication(metadata: oauth.AuthorizationServer, secret: string | undefined): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  // client_secret_basic is the default (OpenID Connect Discovery 1.0 §3).
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic") ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
}
