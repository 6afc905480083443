import { readEmailAddress } from "#core/accounts/email-address.ts";
import { env } from "#core/env.ts";
import { plainIdentifier } from "../resources/resource-servers.ts";
import { invalidRequest } from "./exchange-refusal.ts";
import { ACCESS_TOKEN_TYPE } from "./token-exchange.ts";

/** The parameters of RFC 8693 §2.1, as the engine read them: several values only where the RFC allows several. */
export type ExchangeParameters = {
  subject_token?: string;
  subject_token_type?: string;
  actor_token?: string;
  actor_token_type?: string;
  requested_token_type?: string;
  scope?: string;
  resource?: string | string[];
  audience?: string | string[];
};

export const EXCHANGE_PARAMETERS: readonly (keyof ExchangeParameters)[] = [
  "subject_token",
  "subject_token_type",
  "actor_token",
  "actor_token_type",
  "requested_token_type",
  "scope",
  "resource",
  "audience",
];
/** RFC 8693 §2.1: both may be sent more than once. */
export const REPEATABLE_PARAMETERS: readonly (keyof ExchangeParameters)[] = ["resource", "audience"];

export type ExchangeRequest = {
  actorToken: string | undefined;
  /** The requested scopes; undefined requests all that the app has. */
  scopes: string[] | undefined;
  /** The requested targets of the token, as named. */
  targets: string[];
};

/**
 * `urn:<vendor>:token-type:user-email` in this installation's namespace, and as the public hub's clients know it
 * (docs/specification/organizations-and-tokens.md#token-exchange).
 */
export const userEmailTokenTypes = (): string[] => [
  `urn:${env().VENDOR}:token-type:user-email`,
  "urn:huggingface:token-type:user-email",
];

/** The subject token's e-mail address in its canonical form for comparison; undefined if it is not an address (S91). */
export function subjectAddress({ subject_token = "" }: ExchangeParameters): string | undefined {
  return subject_token.length <= 1_000 ? readEmailAddress(subject_token)?.canonical : undefined;
}

/**
 * Checks what RFC 8693 §2.1 requires of an exchange's parameters (S92).
 * @throws ExchangeRefusal `invalid_request`
 */
export function readExchangeRequest(parameters: ExchangeParameters): ExchangeRequest {
  const types = userEmailTokenTypes();
  const { subject_token, subject_token_type, actor_token, actor_token_type, requested_token_type } = parameters;
  if (!subject_token) throw invalidRequest("subject_token is missing: send the e-mail address of a member of the organization");
  if (!subject_token_type) throw invalidRequest(`subject_token_type is missing: send ${types[0]}`);
  if (!types.includes(subject_token_type)) throw invalidRequest(`subject_token_type must be ${types[0]}`);
  if (requested_token_type && requested_token_type !== ACCESS_TOKEN_TYPE) {
    throw invalidRequest(`only tokens of the type ${ACCESS_TOKEN_TYPE} are issued`);
  }
  if (actor_token && !actor_token_type) throw invalidRequest("actor_token_type is missing beside actor_token");
  if (!actor_token && actor_token_type) throw invalidRequest("actor_token_type without actor_token");
  if (actor_token_type && actor_token_type !== ACCESS_TOKEN_TYPE) {
    throw invalidRequest(`actor_token_type must be ${ACCESS_TOKEN_TYPE}`);
  }
  return { actorToken: actor_token, scopes: readScopes(parameters), targets: readTargets(parameters) };
}

export function readScopes({ scope = "" }: ExchangeParameters): string[] | undefined {
  const named = scope.split(" ").filter((each) => each !== "");
  return named.length > 0 ? [...new Set(named)] : undefined;
}

function readTargets({ resource = [], audience = [] }: ExchangeParameters): string[] {
  return [...new Set([resource, audience].flat().map(plainIdentifier))];
}
