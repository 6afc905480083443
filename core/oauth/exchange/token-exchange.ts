import type { IncomingMessage } from "node:http";

/** RFC 8693 §2.1. */
export const TOKEN_EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
/** RFC 8693 §3. */
export const ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token";
export const ID_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:id_token";

/**
 * Whether a token request is a CI job's (docs/specification/organizations-and-tokens.md#trusted-publishers): it has an ID token from its
 * own issuer and no other authentication. A request that names or authenticates a client is treated as that client's.
 */
export function isCiExchange({ headers }: Pick<IncomingMessage, "headers">, form: URLSearchParams): boolean {
  return (
    form.get("grant_type") === TOKEN_EXCHANGE_GRANT &&
    // A request that names its resource but forgets parameters is told so, instead of being asked for a client, which it does not need.
    (form.get("subject_token_type") ?? (form.has("resource") ? ID_TOKEN_TYPE : null)) === ID_TOKEN_TYPE &&
    headers.authorization === undefined &&
    !["client_id", "client_secret", "client_assertion"].some((name) => form.get(name))
  );
}
