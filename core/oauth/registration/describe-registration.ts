import { env } from "#core/env.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { clientOfApp } from "../client-of-app.ts";
import { REGISTRATION } from "../protocol-routes.ts";
import { OFFLINE_ACCESS } from "../scopes.ts";
import type { RegisteredMetadata } from "./registration-metadata.ts";

/**
 * The client information response (RFC 7591 §3.2.1, RFC 7592 §3; docs/specification/oauth.md#dynamic-registration): everything the app
 * is registered with.
 */
export function describeRegistration({
  app,
  registrationToken,
  secret,
}: {
  app: OAuthApp;
  /** As the app has sent it, or as it was made just now: only its hash is kept. */
  registrationToken: string;
  /** Only where it was made just now. */
  secret?: string;
}) {
  const { grant_types, response_types } = clientOfApp({ ...app, secrets: [] });
  const { scope: _asAsked, ...kept } = app.registeredMetadata as RegisteredMetadata;
  return {
    client_id: app.clientId,
    ...(secret && { client_secret: secret }),
    client_id_issued_at: Math.floor(app.createdAt.getTime() / 1000),
    client_secret_expires_at: 0,
    registration_access_token: registrationToken,
    registration_client_uri: `${env().ORIGIN}${REGISTRATION}/${app.clientId}`,
    client_name: app.name,
    ...(app.homepageUrl && { client_uri: app.homepageUrl }),
    redirect_uris: app.redirectUris,
    ...(app.postLogoutRedirectUris.length > 0 && { post_logout_redirect_uris: app.postLogoutRedirectUris }),
    scope: [...app.scopes, OFFLINE_ACCESS].join(" "),
    grant_types,
    response_types,
    id_token_signed_response_alg: app.idTokenAlg,
    ...(app.isParRequired && { require_pushed_authorization_requests: true }),
    ...(app.isDpopRequired && { dpop_bound_access_tokens: true }),
    ...(app.jwks !== null && { jwks: app.jwks }),
    ...(app.jwksUri && { jwks_uri: app.jwksUri }),
    ...(app.backchannelLogoutUri && { backchannel_logout_uri: app.backchannelLogoutUri }),
    ...kept,
  };
}
