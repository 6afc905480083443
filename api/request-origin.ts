import type { Context } from "hono";
import type { AuditToken, RequestOrigin } from "#core/audit/request-origin.ts";
import { CLIENT_ADDRESS_HEADER } from "#core/http/client-address.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** The request's token (bearer.ts). */
    auditToken?: AuditToken;
  }
}

/** Where a request comes from, for audit and throttling. The address is determined by server.ts, never by the sender. */
export function requestOriginOf(c: Context): RequestOrigin {
  const token = c.get("auditToken");
  return {
    ip: c.req.header(CLIENT_ADDRESS_HEADER) ?? null,
    userAgent: c.req.header("User-Agent") ?? null,
    ...(token && { token }),
  };
}
