import { env } from "#core/env.ts";

const kinds = { AccessToken: "oauth", RefreshToken: "refresh", DeviceCode: "device" } as const;

type TokenModel = keyof typeof kinds;

export const isTokenModel = (model: string): model is TokenModel => Object.hasOwn(kinds, model);

export function tokenPrefix(model: TokenModel): string {
  return `${env().TOKEN_PREFIX}${kinds[model]}_`;
}

/** Saves a lookup in introspection and revocation, which try every kind. A token with an earlier TOKEN_PREFIX shows no kind. */
export function isOfAnotherKind(model: TokenModel, token: string): boolean {
  return Object.keys(kinds).some((other) => other !== model && token.startsWith(tokenPrefix(other as TokenModel)));
}
