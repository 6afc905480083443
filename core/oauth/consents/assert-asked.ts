import { ServiceError } from "#core/errors.ts";
import type { ConsentRequest } from "./consent-request.ts";
import type { ConsentAnswer } from "./merge-answer.ts";

const CHANGED = "The app has changed while you were reading. Reload this page, look at it again, and answer then.";

/**
 * Everything in the answer must be in the request, and memberships are checked again now (S31, S33). If the app changed its name or
 * redirect URIs while the user read the page, the user did not agree to it as it is now (S36).
 */
export function assertAsked({ scopes, alreadyGranted, organizations, fingerprint }: ConsentRequest, answer: ConsentAnswer): void {
  if (answer.fingerprint !== fingerprint) throw new ServiceError("invalid_request", CHANGED);
  const requested = new Set<string>([...scopes, ...alreadyGranted].map(({ scope }) => scope));
  const known = new Set(organizations.map(({ id }) => id));
  const closed = organizations.find(({ id, refusal }) => refusal !== null && answer.orgIds.includes(id));
  if (closed) {
    throw new ServiceError("invalid_request", `${closed.fullName} does not let this app in. Reload this page and answer again.`);
  }
  if (answer.scopes.every((scope) => requested.has(scope)) && answer.orgIds.every((id) => known.has(id))) return;
  throw new ServiceError("invalid_request", "The answer does not fit the question. Go back to the app and start again.");
}
