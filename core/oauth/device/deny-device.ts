import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { answerDeviceCode } from "./answer-device-code.ts";
import { claimDeviceCode } from "./claim-device-code.ts";

/**
 * Denies a device; its next poll gets `access_denied`. An earlier consent stays unchanged.
 * @throws ServiceError as `openDeviceRequest` does.
 */
export async function denyDevice(session: SiteSession, typedCode: string, from: RequestOrigin): Promise<void> {
  const { userCode, clientId, device } = await claimDeviceCode(session, typedCode, from);
  const userId = session.user.id;
  await db().$transaction(async (tx) => {
    // The public hub's clients show this description (docs/specification/oauth.md#device-authorization).
    await answerDeviceCode(tx, { userCode, userId }, { error: "access_denied", errorDescription: "Device code denied" });
    await recordAboutSomebody(tx, { type: "device.deny", actorId: userId, subjectId: userId, clientId, data: { device }, from });
  });
}
