import { discover, type ServiceOptions } from "./discover.ts";
import { base64url, randomText, sha256 } from "./random.ts";

export type LoginOptions = ServiceOptions & {
  clientId: string;
  /** One of those that the app has, to the letter. */
  redirectUri: string;
  /** Scopes, as a list or with spaces between them. Default `openid profile`. */
  scope?: string | readonly string[] | undefined;
  /** Organizations to ask for, by id (`organizations[].sub` of the user info). The person chooses. */
  orgIds?: string | readonly string[] | undefined;
  /** `consent` asks again although it was granted; `none` fails rather than asks; `login` wants a fresh sign-in. */
  prompt?: string | undefined;
  /** Whatever else the authorization endpoint takes. */
  parameters?: Record<string, string> | undefined;
};

/** Keep all but `url` where only this browser's sign-in finds it, such as an HttpOnly cookie, until `finishLogin`. */
export type Login = { url: string; state: string; codeVerifier: string; nonce: string };

/**
 * Begins a sign-in by authorization code with PKCE: send the person's browser to `url`.
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1, https://www.rfc-editor.org/rfc/rfc7636 and
 *   https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
 */
export async function createLogin(options: LoginOptions): Promise<Login> {
  const { clientId, redirectUri, scope = "openid profile", orgIds, prompt, parameters = {} } = options;
  const { authorization_endpoint } = await discover(options);
  const [state, nonce, codeVerifier] = [randomText(), randomText(), randomText()];
  const url = new URL(authorization_endpoint);
  const asked: Record<string, string | undefined> = {
    ...parameters,
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: spaced(scope),
    state,
    nonce,
    code_challenge: base64url(await sha256(codeVerifier)),
    code_challenge_method: "S256",
    prompt,
    orgIds: orgIds && [orgIds].flat().join(","),
  };
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) url.searchParams.set(name, value);
  return { url: url.href, state, codeVerifier, nonce };
}

export const spaced = (scope: string | readonly string[]): string => (typeof scope === "string" ? scope : scope.join(" "));
