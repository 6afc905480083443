import { ServiceError } from "#core/errors.ts";
import type { ConsentRequest } from "./consent-request.ts";
import type { ConsentAnswer } from "./merge-answer.ts";

/** Everything in the answer must be in the request, and memberships are looked at again now (S31, S33). */
export function assertAsked({ scopes, alreadyGranted, organizations }: ConsentRequest, answer: ConsentAnswer): void {
  const requested = new Set<string>([...scopes, ...alreadyGranted].map(({ scope }) => scope));
  const known = new Set(organizations.map(({ id }) => id));
  if (answer.scopes.every((scope) => requested.has(scope)) && answer.orgIds.every((id) => known.has(id))) return;
  throw new ServiceError("invalid_request", "The answer does not fit the question. Go back to the app and start again.");
}
