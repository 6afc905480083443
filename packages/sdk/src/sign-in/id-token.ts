import * as oauth from "oauth4webapi";
import { z } from "zod";
import { connect, type ServiceOptions, TOLERANCE_SECONDS } from "./service.ts";
import { invalidIdToken, orRefused } from "./sign-in-error.ts";

const claimsSchema = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
  iat: z.number(),
  nonce: z.string().optional(),
  azp: z.string().optional(),
  at_hash: z.string().optional(),
  auth_time: z.number().optional(),
  name: z.string().optional(),
  preferred_username: z.string().optional(),
  picture: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
});
/**
 * The service's statements about the person. Store `sub` as the person's ID, because names and addresses change. `exp`, `iat` and
 * `auth_time` are seconds since 1970.
 * @see [OpenID Connect Core 1.0 §2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken)
 * @group Sign-in @useDeclaredType
 */
export type IdTokenClaims = z.infer<typeof claimsSchema>;

/** Options of {@link verifyIdToken}. @group Sign-in */
export type IdTokenOptions = ServiceOptions & {
  /** The ID token as a signed JWT. */
  idToken: string;
  /** The app to which the token must have been issued. */
  clientId: string;
  /** The nonce of the login. Leave it out only if the sign-in sent none, as on a device. */
  nonce?: string | undefined;
  /** The access token that came with the ID token. If given, it must match `at_hash`. */
  accessToken?: string | undefined;
};

/**
 * Checks an ID token: its signature (RS256 or ES256, by a key of the service), issuer, audience, authorized party and nonce.
 * `accessToken` must be the one that `at_hash` names. The expiry and the time of issue are checked with a tolerance of 60 seconds.
 * {@link finishLogin} and {@link deviceLogin} check their ID tokens already. Call it only for other ID tokens.
 * @param options The token, and the values that it must match.
 * @returns The claims. Next, find or create your account by `sub`.
 * @throws {@link SignInError} `invalid_id_token`: a check failed, and `message` says which.
 * @throws {@link ApiError} `network` or `timeout`: the service's keys could not be read.
 * @see [OpenID Connect Core 1.0 §3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation)
 * @see [RFC 8725](https://www.rfc-editor.org/rfc/rfc8725)
 * @group Sign-in
 */
export async function verifyIdToken(options: IdTokenOptions): Promise<IdTokenClaims> {
  const { idToken, clientId, nonce, accessToken } = options;
  if (idToken === "") throw invalidIdToken("it is empty");
  const { as, client, http } = await connect(options);
  // oauth4webapi checks an ID token only in a response of the token endpoint, and does not check the access token.
  const answer = new Response(JSON.stringify({ access_token: accessToken || "none", token_type: "bearer", id_token: idToken }));
  const checked = await orRefused(
    nonce === undefined
      ? oauth.processGenericTokenEndpointResponse(as, client, answer)
      : oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: nonce, requireIdToken: true }),
  );
  await orRefused(oauth.validateApplicationLevelSignature(as, answer, http));
  const claims = readClaims(oauth.getValidatedIdTokenClaims(checked));

  // Checks that oauth4webapi leaves to its caller.
  if (claims.azp !== undefined && claims.azp !== clientId) throw invalidIdToken("it was issued to another app");
  if (claims.iat - TOLERANCE_SECONDS > Date.now() / 1000) {
    throw invalidIdToken("it was issued in the future; check this machine's clock");
  }
  if (accessToken !== undefined && claims.at_hash !== undefined && claims.at_hash !== (await leftHalfOfHash(accessToken))) {
    throw invalidIdToken("it came with another access token");
  }
  return claims;
}

/**
 * Reads the claims of an ID token without checking anything. Use it only for a token that this program has verified before, such as one in
 * its own storage. For all other tokens, use {@link verifyIdToken}.
 * @param idToken The ID token as a JWT.
 * @returns The claims, unchecked.
 * @throws {@link SignInError} `invalid_id_token`: it is not a JWT, or a claim that every ID token has is missing.
 * @see [RFC 7519 §3](https://www.rfc-editor.org/rfc/rfc7519#section-3)
 * @group Sign-in
 */
export function readIdTokenClaims(idToken: string): IdTokenClaims {
  const parts = idToken.split(".");
  if (parts.length !== 3) throw invalidIdToken("it is not a signed JWT");
  try {
    const bytes = Uint8Array.from(atob((parts[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    return readClaims(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    throw invalidIdToken("it is not a signed JWT");
  }
}

function readClaims(value: unknown): IdTokenClaims {
  const { data } = claimsSchema.safeParse(value);
  if (!data) throw invalidIdToken("a claim is missing or has another type");
  return data;
}

/** OpenID Connect Core 1.0 §3.1.3.6: the hash is SHA-256 for RS256 and ES256. */
async function leftHalfOfHash(accessToken: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(accessToken)));
  const base64 = btoa(String.fromCharCode(...hash.subarray(0, hash.length / 2)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
