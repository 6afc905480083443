import { isRecentlyAuthenticated } from "#core/access/is-recently-authenticated.ts";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { amrOf } from "../amr.ts";
import { assertAsked } from "../consents/assert-asked.ts";
import type { ConsentRequest } from "../consents/consent-request.ts";
import type { ConsentAnswer } from "../consents/merge-answer.ts";
import { storeAnswer } from "../consents/store-answer.ts";
import { insertGrant } from "../grant-store.ts";
import { ANOTHER_ACCOUNT } from "../interaction.ts";
import { fillGrant } from "../load-existing-grant.ts";
import { currentProvider } from "../provider.ts";
import { countAuthorization } from "../usage.ts";
import { answerDeviceCode } from "./answer-device-code.ts";
import { type ClaimedDeviceCode, claimDeviceCode } from "./claim-device-code.ts";
import { readDeviceConsent } from "./open-device-request.ts";

/**
 * Approves a device: stores what the user allowed, and gives its next poll the tokens. All of it is stored or nothing.
 * @throws ServiceError as `openDeviceRequest` does; `invalid_request` for an answer to something that was not asked (S33); `forbidden` if
 * the page was shown to an account other than the one signed in by now (S25).
 */
export async function approveDevice(
  session: SiteSession,
  typedCode: string,
  answer: ConsentAnswer,
  from: RequestOrigin,
): Promise<void> {
  const userId = session.user.id;
  if (answer.accountId !== userId) throw new ServiceError("forbidden", ANOTHER_ACCOUNT);
  const code = await claimDeviceCode(session, typedCode, from);
  const request = await readDeviceConsent(code, session);
  assertAsked(request, answer);
  if (needsRecentProof(request, session)) {
    throw new ServiceError("reauthentication_required", "Confirm that it is you to let the command line in.");
  }
  const authTime = Math.floor(session.authenticatedAt.getTime() / 1000);
  const { userCode, clientId, device } = code;
  const provider = await currentProvider();
  await db().$transaction(async (tx) => {
    const choice = await storeAnswer(tx, { userId, clientId }, request, answer, from);
    const grant = new provider.Grant({ accountId: userId, clientId });
    fillGrant(grant, choice);
    await answerDeviceCode(
      tx,
      { userCode, userId },
      {
        accountId: userId,
        grantId: await insertGrant(tx, grant, { authTime }),
        scope: grant.getOIDCScopeFiltered(requestedScopes(code)),
        authTime,
        amr: amrOf(session),
        ...resourceOf(code),
      },
    );
    await recordAuditEvent(tx, { type: "device.approve", actorId: userId, clientId, data: { device }, from });
  });
  countAuthorization(clientId, userId);
}

/**
 * Whether the user must authenticate again. The service's own command line gets as much as a personal access token, for as long: a session
 * that was left open must not be enough (S113).
 */
export function needsRecentProof({ app }: ConsentRequest, session: SiteSession): boolean {
  return app.isFirstParty && !isRecentlyAuthenticated(session);
}

const requestedScopes = ({ params }: ClaimedDeviceCode): Set<string> => new Set(String(params.scope ?? "").split(" "));

/** RFC 8707 §2: the audience that the device named, one or several, was checked with its request. */
function resourceOf({ params: { resource } }: ClaimedDeviceCode): { resource?: string | string[] } {
  return typeof resource === "string" || (Array.isArray(resource) && resource.length > 0) ? { resource } : {};
}
