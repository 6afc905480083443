import { env } from "#core/env.ts";

const kinds = { AccessToken: "oauth", RefreshToken: "refresh", DeviceCode: "device" } as const;

/** The models whose IDs are tokens with a recognizable prefix (S55). */
type TokenModel = keyof typeof kinds;

export const isTokenModel = (model: string): model is TokenModel => Object.hasOwn(kinds, model);

export function tokenPrefix(model: TokenModel): string {
  return `${env().TOKEN_PREFIX}${kinds[model]}_`;
}

/**
 * Whether a token's prefix shows that it is of another kind. If so, no query is needed; introspection and revocation try every kind. A
 * token with an earlier TOKEN_PREFIX shows no kind, so it is looked up.
 */
export function isOfAnotherKind(model: TokenModel, token: string): boolean {
  return Object.keys(kinds).some((other) => other !== model && token.startsWith(tokenPrefix(other as TokenModel)));
}
