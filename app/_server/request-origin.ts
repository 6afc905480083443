import { headers } from "next/headers";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { CLIENT_ADDRESS_HEADER } from "#core/http/client-address.ts";

/**
 * The origin of the request, for the audit log, throttling and the list of sessions. server.ts determines the IP address; the sender cannot
 * set it.
 */
export async function requestOrigin(): Promise<RequestOrigin> {
  const given = await headers();
  return { ip: given.get(CLIENT_ADDRESS_HEADER), userAgent: given.get("user-agent") };
}
