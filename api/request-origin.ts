import type { Context } from "hono";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { CLIENT_ADDRESS_HEADER } from "#core/http/client-address.ts";

/** Where a request comes from, for audit and throttling. The address is server.ts's finding, never the sender's word. */
export function requestOriginOf(c: Context): RequestOrigin {
  return { ip: c.req.header(CLIENT_ADDRESS_HEADER) ?? null, userAgent: c.req.header("User-Agent") ?? null };
}
