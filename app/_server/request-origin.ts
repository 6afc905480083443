import { headers } from "next/headers";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { CLIENT_ADDRESS_HEADER } from "#core/http/client-address.ts";

/** Who is asking, for audit, throttling and the list of sessions. The address is server.ts's finding, never the sender's word. */
export async function requestOrigin(): Promise<RequestOrigin> {
  const given = await headers();
  return { ip: given.get(CLIENT_ADDRESS_HEADER), userAgent: given.get("user-agent") };
}
