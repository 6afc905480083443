import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { answerDeviceCode } from "./answer-device-code.ts";
import { claimDeviceCode } from "./claim-device-code.ts";

/**
 * Refuses a device; its next poll is told `access_denied`. A consent given earlier stays as it was.
 * @throws ServiceError as `openDeviceRequest` does.
 */
export async function denyDevice(session: SiteSession, typedCode: string, from: RequestOrigin): Promise<void> {
  const { userCode, clientId, device } = await claimDeviceCode(session, typedCode, from);
  const userId = session.user.id;
  await db().$transaction(async (tx) => {
    // The description is what clients of the public hub show (docs/specification/oauth.md#device-authorization).
    await answerDeviceCode(tx, { userCode, userId }, { error: "access_denied", errorDescription: "Device code denied" });
    await recordAuditEvent(tx, { type: "device.deny", actorId: userId, clientId, data: { device }, from });
  });
}
