import { errors } from "oidc-provider";
import { readEmailAddress } from "#core/accounts/email-address.ts";
import { env } from "#core/env.ts";
import { ACCESS_TOKEN_TYPE } from "../grant-types.ts";
import { plainIdentifier } from "../resources/resource-servers.ts";

/** RFC 8693 §2.1. */
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
/** RFC 8693 §2.1: both parameters may be sent several times. */
export const REPEATABLE_PARAMETERS: readonly (keyof ExchangeParameters)[] = ["resource", "audience"];

export type ExchangeRequest = {
  actorToken: string | undefined;
  scopes: string[] | undefined;
  targets: string[];
};

export const userEmailTokenTypes = (): string[] => [
  `urn:${env().VENDOR}:token-type:user-email`,
  "urn:huggingface:token-type:user-email",
];

/** See S91. */
export function subjectAddress({ subject_token = "" }: ExchangeParameters): string | undefined {
  return subject_token.length <= 1_000 ? readEmailAddress(subject_token)?.canonical : undefined;
}

/** RFC 8693 §2.1 (S92). */
export function readExchangeRequest(parameters: ExchangeParameters): ExchangeRequest {
  const types = userEmailTokenTypes();
  const { subject_token, subject_token_type, actor_token, actor_token_type, requested_token_type } = parameters;
  if (!subject_token) throw invalidRequest("subject_token is missing: send the e-mail address of a member of the organization");
  if (!subject_token_type) throw invalidRequest(`subject_token_type is missing: send ${types[0]}`);
  if (!types.includes(subject_token_type)) throw invalidRequest(`subject_token_type must be ${types[0]}`);
  if (requested_token_type && requested_token_type !== ACCESS_TOKEN_TYPE) {
    throw invalidRequest(`only tokens of the type ${ACCESS_TOKEN_TYPE} are issued`);
  }
  if (actor_token && !actor_token_type) throw invalidRequest("actor_token_type is required with actor_token");
  if (!actor_token && actor_token_type) throw invalidRequest("actor_token_type requires actor_token");
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

/** Only the organization sees the reason, which is more specific than the response. */
type RefusalReason =
  | "not_authenticated_by_basic"
  | "not_bound"
  | "no_privilege"
  | "no_plan"
  | "blocked_by_organization"
  | "malformed_request"
  | "invalid_actor"
  | "not_a_member"
  | "email_not_verified"
  | "user_disabled"
  | "requirements_not_met"
  | "unknown_target"
  | "invalid_scope"
  | "invalid_dpop_proof";

export class ExchangeRefusal extends errors.CustomOIDCProviderError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, error: string, description: string) {
    super(error, description);
    this.reason = reason;
  }
}

/** The status is 401, as for every `invalid_client` here (S89, S90). */
export const unauthorizedClient = (reason: RefusalReason, description: string) =>
  new ExchangeRefusal(reason, "invalid_client", description);

export const invalidRequest = (description: string, reason: RefusalReason = "malformed_request") =>
  new ExchangeRefusal(reason, "invalid_request", description);

/** One sentence for every reason (S91). */
export const invalidSubject = (reason: RefusalReason) =>
  new ExchangeRefusal(reason, "invalid_grant", "no member of the organization can be identified by this e-mail address");
