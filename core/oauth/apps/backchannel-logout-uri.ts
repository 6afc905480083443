import { parseServerAddress } from "./server-address.ts";

/**
 * Where an app is notified that a user's session has ended (OpenID Connect Back-Channel Logout §2.2).
 * @throws ServiceError `invalid_request` with the field `backchannelLogoutUri`.
 */
export function parseBackchannelLogoutUri(text: string): string {
  return parseServerAddress(text, "backchannelLogoutUri");
}
