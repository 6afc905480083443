import { env } from "#core/env.ts";

const kinds = { AccessToken: "oauth", RefreshToken: "refresh", DeviceCode: "device" } as const;

/** Models whose ids are tokens that leave the house with a recognisable prefix (S55). */
export type TokenModel = keyof typeof kinds;

export const isTokenModel = (model: string): model is TokenModel => Object.hasOwn(kinds, model);

export function tokenPrefix(model: TokenModel): string {
  return `${env().TOKEN_PREFIX}${kinds[model]}_`;
}

/**
 * Whether a token is plainly of another kind, so that the database need not be asked: introspection and revocation try every
 * kind. One under an earlier TOKEN_PREFIX is of no kind by its looks, and looked for.
 */
export function isOfAnotherKind(model: TokenModel, token: string): boolean {
  return Object.keys(kinds).some((other) => other !== model && token.startsWith(tokenPrefix(other as TokenModel)));
}
