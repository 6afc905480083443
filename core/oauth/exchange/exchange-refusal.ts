import { errors } from "oidc-provider";

/** Why an exchange was refused, as a code for the organization's audit log: it may say what the response must not. */
export type RefusalReason =
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

/** A refused exchange: the RFC 6749 error for the client, and the reason for the organization. */
export class ExchangeRefusal extends errors.CustomOIDCProviderError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, error: string, description: string) {
    super(error, description);
    this.reason = reason;
  }
}

/**
 * The client is known and may not exchange (rule 1 of docs/specification/organizations-and-tokens.md#token-exchange, S89, S90). The status
 * is 401, as for every `invalid_client` here.
 */
export const unauthorizedClient = (reason: RefusalReason, description: string) =>
  new ExchangeRefusal(reason, "invalid_client", description);

export const invalidRequest = (description: string, reason: RefusalReason = "malformed_request") =>
  new ExchangeRefusal(reason, "invalid_request", description);

/**
 * One sentence for a subject that is unknown, unverified, not a member, disabled or restricted: the response does not tell them apart
 * (S91).
 */
export const invalidSubject = (reason: RefusalReason) =>
  new ExchangeRefusal(reason, "invalid_grant", "no member of the organization can be identified by this e-mail address");
