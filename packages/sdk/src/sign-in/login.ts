import * as oauth from "oauth4webapi";
import { type IdTokenClaims, verifyIdToken } from "./id-token.ts";
import { type AppOptions, type Connection, discover, type ServiceOptions } from "./service.ts";
import { SignInError } from "./sign-in-error.ts";
import { requestTokens, scopeText, type Tokens } from "./tokens.ts";

/** Options of {@link createLogin}. @group Sign-in */
export type LoginOptions = ServiceOptions & {
  /** The app's client ID. */
  clientId: string;
  /** One of the app's redirect URIs, character for character (RFC 9700 §2.1). */
  redirectUri: string;
  /** Scopes, as a list or separated by spaces. Default `openid profile`. */
  scope?: string | readonly string[] | undefined;
  /** IDs of organizations to request (`organizations[].sub` of {@link UserInfo}). The person chooses which ones to grant. */
  orgIds?: string | readonly string[] | undefined;
  /**
   * `consent` asks again even if the access was granted before. `login` requires a new sign-in. `none` fails instead of asking
   * (OpenID Connect Core 1.0 §3.1.2.1).
   */
  prompt?: string | undefined;
  /** Other parameters of the authorization request, such as `ui_locales`. */
  parameters?: Record<string, string> | undefined;
};

/**
 * A sign-in that has begun. Until `finishLogin`, store everything except `url` where only this browser finds it, such as in an HttpOnly
 * cookie.
 * @group Sign-in
 */
export type Login = {
  /** The authorization request. Redirect the browser to it. */
  url: string;
  /** Binds the response to this browser (RFC 6749 §10.12). */
  state: string;
  /** Binds the code to this program (RFC 7636). */
  codeVerifier: string;
  /** Binds the ID token to this login (OpenID Connect Core 1.0 §15.5.2). */
  nonce: string;
};

/**
 * Begins a sign-in by authorization code with PKCE (S256), a state and a nonce. Store the result, redirect the browser to its `url`, and
 * call {@link finishLogin} when the browser returns.
 * @param options The app, its redirect URI and the scopes to request.
 * @returns The URL of the redirect, and three secrets of this login, of 256 bits each.
 * @throws {@link SignInError} `issuer_mismatch`, and {@link ApiError}: see {@link discover}.
 * @see [RFC 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1),
 *   [RFC 7636 §4.3](https://www.rfc-editor.org/rfc/rfc7636#section-4.3) and
 *   [OpenID Connect Core 1.0 §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest)
 * @example
 * ```ts
 * const app = { baseUrl: "https://hub.example.com", clientId: "…", redirectUri: "https://app.example.com/callback" };
 * const { url, ...login } = await createLogin({ ...app, scope: "openid profile read-repos" });
 * // Store `login` for this browser, then redirect to `url`.
 * ```
 * @group Sign-in
 */
export async function createLogin(options: LoginOptions): Promise<Login> {
  const { clientId, redirectUri, scope = "openid profile", orgIds, prompt, parameters = {} } = options;
  const { authorization_endpoint } = await discover(options);
  const login = {
    state: oauth.generateRandomState(),
    codeVerifier: oauth.generateRandomCodeVerifier(),
    nonce: oauth.generateRandomNonce(),
  };
  const url = new URL(authorization_endpoint);
  const request: Record<string, string | undefined> = {
    ...parameters,
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopeText(scope),
    state: login.state,
    nonce: login.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(login.codeVerifier),
    code_challenge_method: "S256",
    prompt,
    orgIds: orgIds && [orgIds].flat().join(","),
  };
  for (const [name, value] of Object.entries(request)) if (value !== undefined) url.searchParams.set(name, value);
  return { url: url.href, ...login };
}

/** Options of {@link finishLogin}. @group Sign-in */
export type FinishLoginOptions = AppOptions & {
  /** The redirect URI that was passed to `createLogin`. */
  redirectUri: string;
  /** The result of `createLogin`, from this browser's storage. */
  login: Pick<Login, "state" | "codeVerifier" | "nonce">;
  /** The URL to which the browser returned, with its query. */
  callbackUrl: string | URL;
};

/** Tokens, and the claims of the ID token if the scope `openid` was granted. @group Sign-in */
export type SignedIn = Tokens & { claims?: IdTokenClaims };

/**
 * Completes a sign-in. Checks that the response belongs to this login (state) and comes from this service (issuer). Redeems the
 * code with its verifier, and checks the ID token like {@link verifyIdToken}. Call it once for each login, and delete the stored
 * login.
 * @param options The app, the stored login, and the URL to which the browser returned.
 * @returns The tokens and the claims. Next, find your account by `claims.sub`, and start your own session. Keep the tokens for
 * {@link createClient}; if there is a refresh token, with {@link keepTokens}.
 * @throws {@link SignInError} `access_denied` (the person refused) and the other errors of the authorization endpoint; `state_mismatch`,
 * `issuer_mismatch`, `invalid_response` and `invalid_id_token`: the response does not belong to this login, so begin again; `invalid_grant`
 * (the code was used or has expired), `invalid_client` and the other errors of the token endpoint.
 * @throws {@link ApiError} `network`, `timeout` or `unexpected_answer`: there was no usable response. The code may be used up, so begin
 * again.
 * @see [RFC 6749 §4.1.3](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3),
 *   [RFC 9207 §2.4](https://www.rfc-editor.org/rfc/rfc9207#section-2.4) and
 *   [OpenID Connect Core 1.0 §3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation)
 * @example
 * ```ts
 * const { accessToken, claims } = await finishLogin({ ...app, login, callbackUrl: request.url });
 * ```
 * @group Sign-in
 */
export async function finishLogin(options: FinishLoginOptions): Promise<SignedIn> {
  const { login, redirectUri, clientId } = options;
  const tokens = await requestTokens(options, (connection) => {
    const { as, client, authentication, http } = connection;
    const answer = checkAnswer(connection, new URL(options.callbackUrl).searchParams, login.state);
    return oauth.authorizationCodeGrantRequest(as, client, authentication, answer, redirectUri, login.codeVerifier, http);
  });
  if (tokens.idToken === undefined) {
    if (!tokens.scope?.split(" ").includes("openid")) return tokens;
    throw new SignInError("The service returned no ID token although openid was granted.", { code: "invalid_id_token" });
  }
  const { idToken, accessToken } = tokens;
  const claims = await verifyIdToken({ ...options, clientId, idToken, nonce: login.nonce, accessToken });
  return { ...tokens, claims };
}

/**
 * Checks the state (RFC 6749 §10.12) and the issuer (RFC 9207). Refuses a repeated parameter, of which another program may read the other
 * value (RFC 6749 §3.1).
 */
function checkAnswer({ as, client }: Connection, parameters: URLSearchParams, state: string): URLSearchParams {
  // A response with an empty state would match a login without a state.
  if (typeof state !== "string" || state === "") throw refused("state_mismatch", "The login has no state.");
  let answer: URLSearchParams;
  try {
    answer = oauth.validateAuthResponse(as, client, parameters, state);
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      throw new SignInError(sentenceOf(error.error, error.error_description), { code: error.error });
    }
    if (!(error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)) throw error;
    throw refused(mismatchOf(error.message), `The response does not belong to this login: ${error.message}.`);
  }
  const [code, another] = answer.getAll("code");
  if (!code || another !== undefined) throw refused("invalid_response", "The response must contain either one code or an error.");
  return answer;
}

/** oauth4webapi has one code for all mismatches, but names the parameter in the message. */
function mismatchOf(message: string): string {
  const name = /(?:response parameter "|unexpected ")(state|iss)"/.exec(message)?.[1];
  return name === undefined ? "invalid_response" : name === "state" ? "state_mismatch" : "issuer_mismatch";
}

const refused = (code: string, message: string): SignInError => new SignInError(`${message} Start the sign-in again.`, { code });

/** Sentences that may be shown to the person. */
const SENTENCES: Record<string, string> = {
  access_denied: "The sign-in was refused. Nothing was shared.",
  login_required: "Nobody is signed in at the service.",
  consent_required: "What was requested has not been allowed yet.",
  interaction_required: "The service has a question that must be answered first.",
  temporarily_unavailable: "The service is busy. Try again later.",
};

function sentenceOf(error: string, description: string | undefined): string {
  const known = SENTENCES[error] ?? `The service responded with ${error}.`;
  return description ? `${known} (${description})` : known;
}
