import type { Login } from "./create-login.ts";
import { discover, type ServiceMetadata } from "./discover.ts";
import { type IdTokenClaims, verifyIdToken } from "./id-token.ts";
import { SignInError } from "./sign-in-error.ts";
import { type AppOptions, requestTokens, type Tokens } from "./tokens.ts";

export type FinishLoginOptions = AppOptions & {
  /** As `createLogin` had it. */
  redirectUri: string;
  /** What `createLogin` gave. */
  login: Pick<Login, "state" | "codeVerifier" | "nonce">;
  /** Where the browser came back to, with its query. */
  callbackUrl: string | URL;
};

/** `claims` of the ID token, which is there with the scope `openid`. */
export type SignedIn = Tokens & { claims?: IdTokenClaims };

/**
 * Ends a sign-in: checks where the browser came from, redeems the code, and checks the ID token. Call it once for each login.
 * @throws SignInError `access_denied` where the person refused; `state_mismatch`, `issuer_mismatch`, `invalid_response` and
 *   `invalid_id_token` of what was not meant for this login; and the codes of the token endpoint
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3, https://www.rfc-editor.org/rfc/rfc9207 and
 *   https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
 */
export async function finishLogin(options: FinishLoginOptions): Promise<SignedIn> {
  const { login, redirectUri, clientId } = options;
  const service = await discover(options);
  const code = readCode(new URL(options.callbackUrl).searchParams, service, login.state);
  const tokens = await requestTokens(options, {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    code_verifier: login.codeVerifier,
  });
  if (tokens.idToken === undefined) {
    if (!tokens.scope?.split(" ").includes("openid")) return tokens;
    throw new SignInError("The service gave no ID token although openid was granted.", { code: "invalid_id_token" });
  }
  const { idToken, accessToken } = tokens;
  const claims = await verifyIdToken({ ...options, clientId, idToken, nonce: login.nonce, accessToken });
  return { ...tokens, claims };
}

function readCode(parameters: URLSearchParams, { issuer, ...service }: ServiceMetadata, state: string): string {
  // Each parameter at most once (RFC 6749 §3.1): of two, somebody else may read the other one.
  for (const name of ["code", "state", "iss", "error"]) {
    if (parameters.getAll(name).length > 1) throw refused("invalid_response", `The answer has ${name} more than once.`);
  }
  // A forged answer to a login that this browser did not begin (RFC 6749 §10.12).
  if (state === "" || parameters.get("state") !== state) {
    throw refused("state_mismatch", "The answer belongs to another sign-in than the one that was begun here.");
  }
  // An answer of another service would have us send it the code (mix-up, RFC 9207).
  const iss = parameters.get("iss");
  if (iss === null ? service.authorization_response_iss_parameter_supported : iss !== issuer) {
    throw refused(
      "issuer_mismatch",
      `The answer is ${iss === null ? "not signed by name" : `from ${iss}`}; the sign-in was begun at ${issuer}.`,
    );
  }
  const error = parameters.get("error");
  if (error !== null) {
    const description = parameters.get("error_description");
    throw new SignInError(sentenceOf(error, description), { code: error });
  }
  const code = parameters.get("code");
  if (!code) throw refused("invalid_response", "The answer has neither a code nor an error.");
  return code;
}

const refused = (code: string, message: string): SignInError => new SignInError(`${message} Begin the sign-in again.`, { code });

/** What a person may be shown. */
const SENTENCES: Record<string, string> = {
  access_denied: "The sign-in was refused. Nothing was shared.",
  login_required: "The person is not signed in at the service.",
  consent_required: "The person has not yet allowed what was asked for.",
  interaction_required: "The service has something to ask the person.",
  temporarily_unavailable: "The service is busy. Try again in a while.",
};

function sentenceOf(error: string, description: string | null): string {
  const known = SENTENCES[error] ?? `The service answered ${error}.`;
  return description ? `${known} (${description})` : known;
}
