import ipaddr from "ipaddr.js";
import { addressKey } from "#core/accounts/address-key.ts";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type ConsentRequest, readConsentRequest } from "../consents/consent-request.ts";
import { type ClaimedDeviceCode, claimDeviceCode } from "./claim-device-code.ts";
import type { DeviceInfo } from "./describe-device.ts";
import { formatUserCode } from "./user-code.ts";

/** What a user sees of a device request before they answer (S64). */
export type DeviceRequest = {
  /** As the device shows it: `BCDF-GHJK`. */
  userCode: string;
  requestedAt: Date;
  expiresAt: Date;
  device: DeviceInfo;
  /** The device's request came from another network than this user's: it may be somebody else's, who sent them the code. */
  isElsewhere: boolean;
  consent: ConsentRequest;
};

/**
 * Opens the request behind a user code, which from then on only this user can answer (S65).
 * @param typedCode as typed: case, hyphens and spaces are ignored (S58).
 * @throws ServiceError with the field `user_code`: `not_found` for a code that is wrong, has expired or is another user's, `conflict` if it
 * was already answered, `rate_limited` with the seconds to wait (S59); `gone` if the app was deleted.
 */
export async function openDeviceRequest(session: SiteSession, typedCode: string, from: RequestOrigin): Promise<DeviceRequest> {
  const code = await claimDeviceCode(session, typedCode, from);
  const { requestedAt, expiresAt, device } = code;
  return {
    userCode: formatUserCode(code.userCode),
    requestedAt,
    expiresAt,
    device,
    isElsewhere: isElsewhere(device, from),
    consent: await readDeviceConsent(code, session),
  };
}

/**
 * The complete question each time, earlier answers ticked: nothing proves who holds the device (RFC 8628 §5.4,
 * docs/specification/oauth.md#device-authorization).
 */
export function readDeviceConsent({ clientId, params }: ClaimedDeviceCode, session: SiteSession): Promise<ConsentRequest> {
  return readConsentRequest({ ...params, client_id: clientId, prompt: "consent" }, session);
}

function isElsewhere(device: DeviceInfo, from: RequestOrigin): boolean {
  const [there, here] = [placeOf(device.ip), placeOf(from.ip)];
  return there !== undefined && here !== undefined && there !== here;
}

/** This machine has two addresses, `127.0.0.1` and `::1`, and a browser and a program on it may use different ones. */
function placeOf(ip: string | null): string | undefined {
  return ip && ipaddr.isValid(ip) && ipaddr.process(ip).range() === "loopback" ? "loopback" : addressKey(ip);
}
