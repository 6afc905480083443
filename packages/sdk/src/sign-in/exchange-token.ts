import { spaced } from "./create-login.ts";
import type { ServiceOptions } from "./discover.ts";
import { requestTokens, type Tokens } from "./tokens.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";

export type ExchangeTokenOptions = ServiceOptions & {
  /** Of an app that is bound to the organization and has the privilege `token-exchange`. */
  clientId: string;
  clientSecret: string;
  /** Of a member, verified. */
  email: string;
  /** Among the app's; all of them when left out. Ask for the least. */
  scope?: string | readonly string[] | undefined;
  /** Who acts for the member, where somebody does: an access token. */
  actorToken?: string | undefined;
  /** The service's word in names of its own (its setting VENDOR). Default `keyhook`. */
  vendor?: string | undefined;
};

/**
 * A token for a member of the organization that the app is bound to, without asking them. There is no refresh token: exchange again.
 * @throws SignInError `invalid_client` where the app may not; `invalid_grant` where there is no token for this person; `invalid_scope`
 * @see https://www.rfc-editor.org/rfc/rfc8693#section-2
 */
export function exchangeToken({ email, scope, actorToken, vendor = "keyhook", ...app }: ExchangeTokenOptions): Promise<Tokens> {
  return requestTokens(app, {
    grant_type: GRANT,
    subject_token: email,
    subject_token_type: `urn:${vendor}:token-type:user-email`,
    scope: scope && spaced(scope),
    ...(actorToken && { actor_token: actorToken, actor_token_type: ACCESS_TOKEN }),
  });
}

export type ExchangeCiTokenOptions = ServiceOptions & {
  /** The job's ID token. Its audience is the service's address; it is good for one exchange. */
  idToken: string;
  /** `owner/name` of a model, `datasets/owner/name`, `spaces/owner/name`, or a user name. */
  resource: string;
};

/**
 * A token of an hour for a job of continuous integration, which has nothing but its own ID token.
 * @throws SignInError `invalid_grant` where no trusted publisher matches
 * @see https://www.rfc-editor.org/rfc/rfc8693#section-2
 */
export function exchangeCiToken({ idToken, resource, ...service }: ExchangeCiTokenOptions): Promise<Tokens> {
  return requestTokens(service, { grant_type: GRANT, subject_token: idToken, subject_token_type: ID_TOKEN, resource });
}
