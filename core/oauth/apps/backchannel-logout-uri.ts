import { parseServerAddress } from "./server-address.ts";

/**
 * Where an app is told that a person's session has ended (OpenID Connect Back-Channel Logout §2.2).
 * @throws ServiceError `invalid_request` with the field `backchannelLogoutUri`.
 */
export function parseBackchannelLogoutUri(text: string): string {
  return parseServerAddress(text, "backchannelLogoutUri");
}
