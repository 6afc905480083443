import type { AllClientMetadata, JWKS } from "oidc-provider";
import { env } from "#core/env.ts";
import type { OAuthApp, OAuthAppSecret } from "#core/generated/prisma/client.ts";
import { DEVICE_CODE_GRANT, TOKEN_EXCHANGE_GRANT } from "../grant-types.ts";
import type { RegisteredMetadata } from "../registration/registration-metadata.ts";
import { OFFLINE_ACCESS, requiredScopes } from "../scopes.ts";
import { CLIENT_EXTENSION, type ClientExtension, isLiveSecret } from "./client-extension.ts";

// The engine requires a secret, and `findClientSecret` compares hashes instead.
const SECRET_IS_HASHED = "hashed";

export function clientOfApp(app: OAuthApp & { secrets: OAuthAppSecret[] }): AllClientMetadata {
  const secrets = app.secrets
    .map((secret) => ({ id: secret.id, hash: secret.secretHash, expiresAt: secret.expiresAt?.getTime() ?? null }))
    .filter(isLiveSecret);
  const grants = grantTypes(app);
  const isFapi = app.securityProfile === "fapi2";
  const extension: ClientExtension = {
    isPkceRequired: app.isPkceRequired,
    isRefreshAlways: app.isRefreshAllowed,
    accessTokenSeconds: app.accessTokenSeconds,
    secrets,
    ...(isFapi && { isFapi }),
    ...(app.isRefreshRotated && { isRefreshRotated: true }),
    ...(app.isFirstParty && { isFirstParty: true }),
    ...(app.ownerUserId === null && app.ownerOrgId === null && { isOwnerless: true }),
    defaultScope: defaultScope(app),
  };
  return {
    client_id: app.clientId,
    client_name: app.name,
    // A new image has a new URL, so users are asked again (S36).
    ...(app.logoId && { logo_uri: `${env().ORIGIN}/images/${app.logoId}` }),
    application_type: "native",
    redirect_uris: app.redirectUris,
    post_logout_redirect_uris: app.postLogoutRedirectUris,
    response_types: grants.includes("authorization_code") ? ["code"] : [],
    grant_types: grants,
    scope: [...app.scopes, OFFLINE_ACCESS].join(" "),
    // FAPI 2.0 Security Profile §5.4.1 excludes RS256.
    id_token_signed_response_alg: isFapi ? "ES256" : (app.idTokenAlg as "RS256" | "ES256"),
    require_pushed_authorization_requests: app.isParRequired,
    dpop_bound_access_tokens: app.isDpopRequired,
    ...(app.backchannelLogoutUri && {
      backchannel_logout_uri: app.backchannelLogoutUri,
      backchannel_logout_session_required: true,
    }),
    ...authentication(app, secrets.length > 0),
    [CLIENT_EXTENSION]: extension,
  };
}

/** An app that registered itself without `scope` gets only the required scopes by default. */
function defaultScope({ scopes, registeredMetadata }: OAuthApp): string {
  const isScopeUnnamed = registeredMetadata !== null && (registeredMetadata as RegisteredMetadata).scope === undefined;
  return (isScopeUnnamed ? requiredScopes : scopes).join(" ");
}

function grantTypes({ redirectUris, isDeviceFlowAllowed, boundOrgId, registeredMetadata }: OAuthApp): string[] {
  const named = (registeredMetadata as RegisteredMetadata | null)?.grant_types;
  if (named) return named;
  return [
    ...(redirectUris.length > 0 ? ["authorization_code"] : []),
    ...(isDeviceFlowAllowed ? [DEVICE_CODE_GRANT] : []),
    // Each exchange decides whether it is allowed (S90).
    ...(boundOrgId ? [TOKEN_EXCHANGE_GRANT] : []),
    "refresh_token",
  ];
}

/** An app without keys and secrets is public (docs/specification/oauth.md#oauth-apps). */
function authentication({ jwks, jwksUri }: OAuthApp, hasSecret: boolean): Partial<AllClientMetadata> {
  if (jwks || jwksUri) {
    return {
      token_endpoint_auth_method: "private_key_jwt",
      ...(jwks ? { jwks: jwks as unknown as JWKS } : { jwks_uri: jwksUri ?? undefined }),
    };
  }
  if (hasSecret) return { token_endpoint_auth_method: "client_secret_basic", client_secret: SECRET_IS_HASHED };
  return { token_endpoint_auth_method: "none" };
}
