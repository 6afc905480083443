import type { Client, Configuration, JWK } from "oidc-provider";
import { derivedKeys } from "#core/crypto/seal.ts";
import { env } from "#core/env.ts";
import { PostgresAdapter } from "./artifacts/adapter.ts";
import { requestRows } from "./artifacts/request-rows.ts";
import { buildInteractionPolicy } from "./authorization/interaction-policy.ts";
import { prepareAuthorization } from "./authorization/prepare-authorization.ts";
import { checkClientAssertion } from "./clients/client-assertion.ts";
import { CLIENT_EXTENSION, clientExtension } from "./clients/client-extension.ts";
import { CLIENT_KEY_ALGORITHMS } from "./clients/client-keys.ts";
import { readClientKeys } from "./clients/fetch-client-keys.ts";
import { loadExistingGrant } from "./consents/load-existing-grant.ts";
import { describeDevice } from "./device/issue-device-code.ts";
import * as lifetimes from "./lifetimes.ts";
import { renderLogoutPage, renderSignedOutPage } from "./logout/logout.ts";
import { renderErrorPage } from "./pages/error-page.ts";
import { protocolRoutes } from "./protocol-routes.ts";
import { apiAudience, findResourceServer, mayIntrospect } from "./resources/resource-servers.ts";
import { OFFLINE_ACCESS, supportedScopes } from "./scopes.ts";
import { ACR_VALUES } from "./site-session.ts";
import { claimsByScope, findAccount } from "./tokens/claims.ts";
import { DPOP_ALGORITHMS, refuseProofAhead } from "./tokens/dpop-proof.ts";
import { refreshTokenSeconds, replacesRefreshToken } from "./tokens/renew-refresh-token.ts";

/** Every feature that is not enabled here is off (S106). */
export function buildConfiguration(signingKeys: JWK[]): Configuration {
  const isSecure = env().ORIGIN.startsWith("https:");
  const cookie = { signed: true, httpOnly: true, sameSite: "lax", secure: isSecure } as const;
  return {
    adapter: PostgresAdapter,
    jwks: { keys: signingKeys },
    routes: { ...protocolRoutes },
    cookies: {
      keys: derivedKeys("engine cookies").map((key) => key.toString("base64url")),
      names: { session: cookieName("provider"), interaction: cookieName("interaction"), resume: cookieName("resume") },
      long: { ...cookie, path: "/oauth" },
      short: cookie,
    },
    scopes: [...supportedScopes],
    claims: Object.fromEntries(Object.entries(claimsByScope).map(([scope, claims]) => [scope, [...claims]])),
    // The ID token itself contains the name, picture and email address (C14 in docs/specification/existing-clients.md).
    conformIdTokenClaims: false,
    acrValues: [...ACR_VALUES],
    responseTypes: ["code"],
    subjectTypes: ["public"],
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
    discovery: {
      // This service implements metadata documents itself (docs/decisions/026).
      client_id_metadata_document_supported: true,
      // RFC 9728 §4: the API and its authorization server name each other.
      protected_resources: [apiAudience()],
      prompt_values_supported: ["none", "login", "consent", "select_account"],
      introspection_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt"],
      introspection_endpoint_auth_signing_alg_values_supported: [...CLIENT_KEY_ALGORITHMS],
      revocation_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
      revocation_endpoint_auth_signing_alg_values_supported: [...CLIENT_KEY_ALGORITHMS],
    },
    clientDefaults: { id_token_signed_response_alg: "RS256" },
    enabledJWA: {
      idTokenSigningAlgValues: ["RS256", "ES256"],
      clientAuthSigningAlgValues: [...CLIENT_KEY_ALGORITHMS],
      dPoPSigningAlgValues: [...DPOP_ALGORITHMS],
    },
    assertJwtClientAuthClaimsAndHeader: checkClientAssertion,
    extraClientMetadata: { properties: [CLIENT_EXTENSION] },
    // The engine calls this validator with every request, so it contains all further checks.
    extraParams: { orgIds: prepareAuthorization },
    // RFC 8693 §4.1: introspection shows the acting party.
    extraTokenClaims: () => {
      const act = requestRows().exchange?.act;
      return act && { act };
    },
    allowOmittingSingleRegisteredRedirectUri: true,
    clientBasedCORS: () => true,
    clockTolerance: lifetimes.CLOCK_TOLERANCE_SECONDS,
    pkce: { required: (_ctx, client) => client.clientAuthMethod === "none" || clientExtension(client).isPkceRequired },
    features: {
      fapi: { enabled: true, profile: (_ctx, client) => (client && clientExtension(client).isFapi ? "2.0" : undefined) },
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => mayIntrospect(client.clientId, token) },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      pushedAuthorizationRequests: { enabled: true },
      deviceFlow: { enabled: true, charset: "base-20", mask: "****-****", deviceInfo: describeDevice },
      backchannelLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => findResourceServer(resource),
        // Otherwise a token request without `resource` would get a token for all audiences (S54).
        useGrantedResource: () => true,
      },
      dPoP: { enabled: true, requireNonce: refuseProofAhead },
      rpInitiatedLogout: { enabled: true, logoutSource: renderLogoutPage, postLogoutSuccessSource: renderSignedOutPage },
    },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}`, policy: buildInteractionPolicy() },
    findAccount,
    fetch: readClientKeys,
    loadExistingGrant,
    issueRefreshToken: (_ctx, client, source) =>
      client.grantTypeAllowed("refresh_token") &&
      // A device gets a refresh token without asking for one, because it cannot show a sign-in page
      // (docs/specification/oauth.md#refresh-tokens).
      (source.kind === "DeviceCode" || source.scopes.has(OFFLINE_ACCESS) || clientExtension(client).isRefreshAlways),
    expiresWithSession: () => false,
    rotateRefreshToken: replacesRefreshToken,
    revokeGrantPolicy: () => true,
    renderError: renderErrorPage,
    ttl: {
      AuthorizationCode: lifetimes.AUTHORIZATION_CODE_SECONDS,
      DeviceCode: lifetimes.DEVICE_CODE_SECONDS,
      AccessToken: (_ctx, _token, client) => accessTokenSeconds(client),
      RefreshToken: (_ctx, token) => refreshTokenSeconds(token),
      IdToken: lifetimes.ID_TOKEN_SECONDS,
      Grant: lifetimes.GRANT_SECONDS,
      Interaction: lifetimes.INTERACTION_SECONDS,
      Session: (_ctx, { accountId }) => (accountId ? lifetimes.ENGINE_SESSION_SECONDS : lifetimes.UNKNOWN_SESSION_SECONDS),
    },
  };
}

/** Cookies ignore the port. With the port in the name, two services on one host do not read each other's cookies. */
function cookieName(name: string): string {
  const { port } = new URL(env().ORIGIN);
  return port ? `${name}-${port}` : name;
}

function accessTokenSeconds(client: Client): number {
  const seconds = clientExtension(client).accessTokenSeconds ?? lifetimes.ACCESS_TOKEN_SECONDS;
  return Math.min(seconds, lifetimes.ACCESS_TOKEN_MAX_SECONDS);
}
