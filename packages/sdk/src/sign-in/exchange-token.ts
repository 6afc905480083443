import type { AppOptions, ServiceOptions } from "./service.ts";
import { requestGrant, scopeText, type Tokens } from "./tokens.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";

/**
 * Options of {@link exchangeToken}. The app must be bound to an organization and have the privilege `token-exchange`.
 * @group Tokens without a person
 */
export type ExchangeTokenOptions = AppOptions & {
  clientSecret: string;
  /** A verified email address of a member of the organization. */
  email: string;
  /** Scopes of the app, as a list or separated by spaces. Request as few as possible. The default is all scopes of the app. */
  scope?: string | readonly string[] | undefined;
  /** An access token of the party that acts for the member, if there is one (RFC 8693 §1.1). */
  actorToken?: string | undefined;
  /** The vendor prefix in the service's own protocol names (its setting VENDOR). Default `keyhook`. */
  vendor?: string | undefined;
};

/**
 * Gets a token of a member of the organization to which the app is bound, without asking that member. There is no refresh token, so
 * exchange again when the token expires. Next, give `accessToken` to {@link createClient}.
 * @param options The app with its secret, and the member's email address.
 * @returns Tokens without `refreshToken`.
 * @throws {@link SignInError} `invalid_client`: the app may not exchange tokens, or its secret is wrong; `invalid_grant`: there is no token
 * for this person; `invalid_scope`: the app does not have such a scope.
 * @throws {@link ApiError} `network` or `timeout`: there was no response. It is safe to call the function again.
 * @see [RFC 8693 §2.1](https://www.rfc-editor.org/rfc/rfc8693#section-2.1)
 * @group Tokens without a person
 */
export function exchangeToken({ email, scope, actorToken, vendor = "keyhook", ...app }: ExchangeTokenOptions): Promise<Tokens> {
  return requestGrant(app, GRANT, {
    subject_token: email,
    subject_token_type: `urn:${vendor}:token-type:user-email`,
    scope: scope && scopeText(scope),
    ...(actorToken && { actor_token: actorToken, actor_token_type: ACCESS_TOKEN }),
  });
}

/** Options of {@link exchangeCiToken}. @group Tokens without a person */
export type ExchangeCiTokenOptions = ServiceOptions & {
  /** The CI job's ID token. Its audience must be the service's URL, and it can be exchanged only once. */
  idToken: string;
  /** The resource to which the job needs access: `owner/name` of a model, `datasets/owner/name`, `spaces/owner/name`, or a username. */
  resource: string;
};

/**
 * Gets a token for a CI job that has only its own ID token. The token is valid for an hour and for the one `resource`. Next, give
 * `accessToken` to {@link createClient}, or to git as the password.
 * @param options The service, the job's ID token, and the resource.
 * @returns Tokens without `refreshToken`.
 * @throws {@link SignInError} `invalid_grant`: no trusted publisher of the resource matches the job, or the ID token was used before.
 * @throws {@link ApiError} `network` or `timeout`: there was no response. Request another ID token before you call the function again.
 * @see [RFC 8693 §2.1](https://www.rfc-editor.org/rfc/rfc8693#section-2.1)
 * @group Tokens without a person
 */
export function exchangeCiToken({ idToken, resource, ...service }: ExchangeCiTokenOptions): Promise<Tokens> {
  return requestGrant(service, GRANT, { subject_token: idToken, subject_token_type: ID_TOKEN, resource });
}
