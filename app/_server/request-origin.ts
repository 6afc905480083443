import { headers } from "next/headers";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { CLIENT_ADDRESS_HEADER } from "#core/http/client-address.ts";

/** server.ts determines the IP address, which the sender cannot set. */
export async function requestOrigin(): Promise<RequestOrigin> {
  const given = await headers();
  return { ip: given.get(CLIENT_ADDRESS_HEADER), userAgent: given.get("user-agent") };
}
