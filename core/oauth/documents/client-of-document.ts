import type { AllClientMetadata } from "oidc-provider";
import { env } from "#core/env.ts";
import { CLIENT_EXTENSION, type ClientExtension } from "../client-extension.ts";
import { OFFLINE_ACCESS, requiredScopes, supportedScopes } from "../scopes.ts";
import type { StoredDocument } from "./find-stored-document.ts";
import { wantsRefreshTokens } from "./wants-refresh-tokens.ts";

/**
 * The engine's metadata for a document: a public client (docs/specification/oauth.md#client-id-metadata-documents) unless it has keys to
 * authenticate with (S73).
 */
export function clientOfDocument({
  clientId,
  metadata,
  logoId,
}: Pick<StoredDocument, "clientId" | "metadata" | "logoId">): AllClientMetadata {
  const scopes = metadata.scope?.split(" ") ?? supportedScopes;
  const grants = metadata.grant_types ?? ["authorization_code"];
  const extension: ClientExtension = {
    source: "document",
    isPkceRequired: true,
    isRefreshAlways: wantsRefreshTokens(metadata),
    accessTokenSeconds: null,
    secrets: [],
    defaultScope: (scopes.some(isRequired) ? scopes.filter(isRequired) : scopes).join(" "),
  };
  return {
    client_id: clientId,
    client_name: metadata.client_name,
    // A new image has a new URL, so users are asked again (S36).
    ...(logoId && { logo_uri: `${env().ORIGIN}/images/${logoId}` }),
    application_type: "native",
    redirect_uris: metadata.redirect_uris,
    post_logout_redirect_uris: metadata.post_logout_redirect_uris ?? [],
    response_types: grants.includes("authorization_code") ? ["code"] : [],
    // `offline_access` decides whether there is a refresh token, also for clients that do not name the grant.
    grant_types: [...new Set([...grants, "refresh_token"])],
    scope: [...new Set([...scopes, OFFLINE_ACCESS])].join(" "),
    id_token_signed_response_alg: metadata.id_token_signed_response_alg ?? "RS256",
    require_pushed_authorization_requests: metadata.require_pushed_authorization_requests ?? false,
    dpop_bound_access_tokens: metadata.dpop_bound_access_tokens ?? false,
    ...(metadata.backchannel_logout_uri && {
      backchannel_logout_uri: metadata.backchannel_logout_uri,
      backchannel_logout_session_required: true,
    }),
    ...authentication(metadata),
    [CLIENT_EXTENSION]: extension,
  };
}

const isRequired = (scope: string): boolean => requiredScopes.some((each) => each === scope);

function authentication({
  token_endpoint_auth_method: method,
  jwks,
  jwks_uri,
}: StoredDocument["metadata"]): Partial<AllClientMetadata> {
  if (method !== "private_key_jwt") return { token_endpoint_auth_method: "none" };
  return { token_endpoint_auth_method: method, ...(jwks ? { jwks } : { jwks_uri }) };
}
