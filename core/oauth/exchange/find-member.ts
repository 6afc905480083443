import { invalidSubject } from "./exchange-refusal.ts";
import type { Exchange, Subject } from "./find-exchange.ts";

/**
 * Rule 2 of docs/specification/organizations-and-tokens.md#token-exchange: the subject is a member of the organization now, and their
 * address is verified (S91).
 *
 * A member who does not meet the organization's requirements is refused too: the token would open nothing until they do, and then start to.
 * The response is the same as for a stranger; the audit log has the reason.
 * @throws ExchangeRefusal `invalid_grant`, the same for every reason.
 */
export function findMember({ subject }: Exchange): Subject {
  if (!subject?.role) throw invalidSubject("not_a_member");
  if (!subject.isEmailVerified) throw invalidSubject("email_not_verified");
  if (subject.isDisabled) throw invalidSubject("user_disabled");
  if (subject.restrictions?.length) throw invalidSubject("requirements_not_met");
  return subject;
}
