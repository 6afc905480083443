import { orAborted } from "../client/or-aborted.ts";
import { SignInError } from "./sign-in-error.ts";
import { type AppOptions, requestTokens, type Tokens } from "./tokens.ts";

export type RefreshOptions = AppOptions & { refreshToken: string; scope?: string | undefined };

const underWay = /* @__PURE__ */ new Map<string, Promise<Tokens>>();

/**
 * New tokens for a refresh token, which is good once: keep the one that comes with them. Calls with the same one at the same time are one
 * request, since the second would look like a thief's and end the sign-in (RFC 9700 §4.14). Programs that share a token among processes use
 * `keepTokens` with a lock.
 * @throws SignInError `invalid_grant` where it has ended: sign in again
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-6
 */
export function refreshTokens({ signal, ...options }: RefreshOptions): Promise<Tokens> {
  const { baseUrl, clientId, refreshToken, scope } = options;
  const name = JSON.stringify([baseUrl, clientId, refreshToken]);
  let tokens = underWay.get(name);
  if (!tokens) {
    // Not stopped by a caller's signal: the service may have rotated the token already, and the new one would be lost.
    tokens = requestTokens(options, { grant_type: "refresh_token", refresh_token: refreshToken, scope }).then(
      (fresh) => ({ refreshToken, ...fresh }),
      (error) => {
        throw ended(error);
      },
    );
    underWay.set(name, tokens);
    const forget = () => underWay.delete(name);
    tokens.then(forget, forget);
  }
  return orAborted(tokens, signal);
}

function ended(error: unknown): unknown {
  if (!(error instanceof SignInError) || error.code !== "invalid_grant") return error;
  return new SignInError("The sign-in has ended. Sign in again.", { status: error.status, code: error.code, cause: error });
}
