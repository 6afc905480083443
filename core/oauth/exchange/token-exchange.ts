import type { IncomingMessage } from "node:http";

/** RFC 8693 §2.1. */
export const TOKEN_EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
/** RFC 8693 §3. */
export const ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token";
export const ID_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:id_token";

/**
 * Whether a token request is a CI job's (docs/specification/organizations-and-tokens.md#trusted-publishers): it brings an ID token of
 * its own issuer and proves itself by nothing else. A request that names or authenticates a client is that client's, and goes the way
 * of all clients.
 */
export function isCiExchange({ headers }: Pick<IncomingMessage, "headers">, form: URLSearchParams): boolean {
  return (
    form.get("grant_type") === TOKEN_EXCHANGE_GRANT &&
    // One that names what it is for and forgets what it sends is told so, not asked for a client that it has no need of.
    (form.get("subject_token_type") ?? (form.has("resource") ? ID_TOKEN_TYPE : null)) === ID_TOKEN_TYPE &&
    headers.authorization === undefined &&
    !["client_id", "client_secret", "client_assertion"].some((name) => form.get(name))
  );
}
