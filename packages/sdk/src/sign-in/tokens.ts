import * as oauth from "oauth4webapi";
import { orAborted } from "../client/answers.ts";
import { type AppOptions, type Connection, connect, type ServiceOptions } from "./service.ts";
import { orRefused, SignInError } from "./sign-in-error.ts";

/** The result of a sign-in. It can be stored as JSON. @group Sign-in */
export type Tokens = {
  /** Pass it to {@link createClient} as `token`. */
  accessToken: string;
  /** `bearer`, in lower case (RFC 6749 §7.1). */
  tokenType: string;
  /** When the access token expires, in ISO 8601 and UTC. Absent if the service does not say. */
  expiresAt?: string;
  /** The granted scopes, separated by spaces. They may be fewer than were requested. */
  scope?: string;
  /** Valid for one use, if the app is public. {@link keepTokens} renews the tokens with it; {@link revokeToken} ends it. */
  refreshToken?: string;
  /** The ID token as a signed JWT. */
  idToken?: string;
};

/**
 * Does not check the ID token's signature and times. A caller that relies on the ID token must call `verifyIdToken`.
 * @throws SignInError with the endpoint's code, or `invalid_id_token`; ApiError if there was no usable response
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5
 */
export async function requestTokens(
  app: ServiceOptions & { clientId?: string; clientSecret?: string | undefined },
  send: (connection: Connection) => Promise<Response>,
): Promise<Tokens> {
  const connection = await connect(app);
  const sentAt = Date.now();
  const response = await orRefused(send(connection));
  // This machine's clock is ignored. A refusal would lose the new refresh token, and the old one is used up.
  const client = { ...connection.client, [oauth.clockTolerance]: Number.MAX_SAFE_INTEGER };
  const answer = await orRefused(oauth.processGenericTokenEndpointResponse(connection.as, client, response));
  return {
    accessToken: answer.access_token,
    tokenType: answer.token_type,
    ...(answer.expires_in !== undefined && { expiresAt: new Date(sentAt + answer.expires_in * 1000).toISOString() }),
    ...(answer.scope !== undefined && { scope: answer.scope }),
    ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
    ...(answer.id_token !== undefined && { idToken: answer.id_token }),
  };
}

/** Omits parameters that are `undefined`. */
export function requestGrant(
  app: ServiceOptions & { clientId?: string; clientSecret?: string | undefined },
  grantType: string,
  parameters: Record<string, string | undefined>,
): Promise<Tokens> {
  return requestTokens(app, ({ as, client, authentication, http }) =>
    oauth.genericTokenEndpointRequest(as, client, authentication, grantType, definedOnly(parameters), http),
  );
}

export const definedOnly = (parameters: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined));

/** Returns the scopes separated by spaces (RFC 6749 §3.3). */
export const scopeText = (scope: string | readonly string[]): string => (typeof scope === "string" ? scope : scope.join(" "));

/** Options of {@link refreshTokens}. @group Sign-in */
export type RefreshOptions = AppOptions & {
  /** The latest refresh token of this sign-in. */
  refreshToken: string;
  /** Fewer scopes than were granted, separated by spaces. Default: all granted scopes. */
  scope?: string | undefined;
};

const underWay = /* @__PURE__ */ new Map<string, Promise<Tokens>>();

/**
 * Exchanges a refresh token for new tokens. The refresh token of a public app can be used only once: store the new one before you
 * use anything else of the result. Simultaneous calls with the same token share one request. A second use would look like a
 * theft, and would end the sign-in (RFC 9700 §4.14). `signal` ends only the wait, since otherwise the new token would be lost.
 *
 * Programs whose processes share a sign-in call {@link keepTokens} instead, which takes a lock and stores the tokens.
 * @param options The app, and the refresh token.
 * @returns New tokens, with `refreshToken` even if the service did not rotate it.
 * @throws {@link SignInError} `invalid_grant`: the sign-in has ended, sign in again; `invalid_client`: check the client ID and its secret.
 * @throws {@link ApiError} `network` or `timeout`: there was no response.
 * @see [RFC 6749 §6](https://www.rfc-editor.org/rfc/rfc6749#section-6)
 * @group Sign-in
 */
export function refreshTokens({ signal, ...options }: RefreshOptions): Promise<Tokens> {
  const { baseUrl, clientId, refreshToken, scope } = options;
  const name = JSON.stringify([baseUrl, clientId, refreshToken]);
  let tokens = underWay.get(name);
  if (!tokens) {
    tokens = requestGrant(options, "refresh_token", { refresh_token: refreshToken, scope }).then(
      (fresh) => ({ refreshToken, ...fresh }),
      (error) => {
        throw endedSignIn(error);
      },
    );
    underWay.set(name, tokens);
    const forget = () => underWay.delete(name);
    tokens.then(forget, forget);
  }
  return orAborted(tokens, signal);
}

function endedSignIn(error: unknown): unknown {
  if (!(error instanceof SignInError) || error.code !== "invalid_grant") return error;
  return new SignInError("The sign-in has ended. Sign in again.", { status: error.status, code: error.code, cause: error });
}

/**
 * Signs out: revokes a refresh token with every access token that came from it, or one access token. Revoking a token that is no longer
 * valid succeeds too. Afterwards delete the stored tokens.
 * @param options The app, and `token`: the refresh token if there is one.
 * @throws {@link SignInError} `invalid_client`: check the client ID and its secret; `unsupported`: the service has no such endpoint.
 * @throws {@link ApiError} `network` or `timeout`: there was no response, and the token may still be valid.
 * @see [RFC 7009 §2](https://www.rfc-editor.org/rfc/rfc7009#section-2)
 * @group Sign-in
 */
export async function revokeToken({ token, ...app }: AppOptions & { token: string }): Promise<void> {
  const { as, client, authentication, http } = await connect(app);
  if (!as.revocation_endpoint) throw new SignInError("The service has no revocation endpoint.", { code: "unsupported" });
  await oauth.processRevocationResponse(await orRefused(oauth.revocationRequest(as, client, authentication, token, http)));
}
