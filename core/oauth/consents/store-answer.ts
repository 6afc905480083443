import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import type { Db } from "#core/db.ts";
import type { ConsentRequest } from "./consent-request.ts";
import { type Choice, type ConsentAnswer, mergeAnswer } from "./merge-answer.ts";
import { recordOrganizationConsents } from "./record-organization-consents.ts";
import { type ConsentOwner, lockStandingConsent, storeConsent } from "./store-consent.ts";

/** Turns a user's answer into their consent, and returns all that they now allow the client. */
export async function storeAnswer(
  tx: Db,
  owner: ConsentOwner,
  request: ConsentRequest,
  answer: ConsentAnswer,
  from: RequestOrigin,
): Promise<Choice> {
  const standing = await lockStandingConsent(tx, owner, request.fingerprint);
  const data = mergeAnswer(request, answer, standing);
  await storeConsent(tx, owner, data, request.fingerprint);
  await recordAuditEvent(tx, { type: "oauth_consent.give", actorId: owner.userId, clientId: owner.clientId, data, from });
  await recordOrganizationConsents(tx, owner, { before: standing, after: data }, from);
  return data;
}
