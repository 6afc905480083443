import { headers } from "next/headers";
import type { RequestOrigin } from "#core/audit/request-origin.ts";

/**
 * Set by server.ts on every request from the connection itself and the trusted proxies (S110), after dropping whatever the
 * outside sent under this name.
 */
export const CLIENT_IP_HEADER = "x-keyhook-client-ip";

/** Who is asking, for audit, throttling and the list of sessions. */
export async function requestOrigin(): Promise<RequestOrigin> {
  const given = await headers();
  return { ip: given.get(CLIENT_IP_HEADER), userAgent: given.get("user-agent") };
}
