import { invalidSubject } from "./exchange-refusal.ts";
import type { Exchange, Subject } from "./find-exchange.ts";

/**
 * Rule 2 of docs/specification/organizations-and-tokens.md#token-exchange: the subject is a member of the organization now, and the
 * address is verified to be theirs (S91).
 *
 * One who has yet to meet what the organization asks of its members is refused too: the token would open nothing, and would begin to
 * when they do. The answer is that of a stranger; the audit log says why.
 * @throws ExchangeRefusal `invalid_grant`, the same for every reason.
 */
export function findMember({ subject }: Exchange): Subject {
  if (!subject?.role) throw invalidSubject("not_a_member");
  if (!subject.isEmailVerified) throw invalidSubject("email_not_verified");
  if (subject.isDisabled) throw invalidSubject("user_disabled");
  if (subject.restrictions?.length) throw invalidSubject("requirements_not_met");
  return subject;
}
