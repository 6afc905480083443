import type { KoaContextWithOIDC } from "oidc-provider";
import { storableUserAgent } from "#core/audit/record-audit-event.ts";

/** What is known of a device when it requests a code, shown to the user who enters the code (S64). */
export type DeviceInfo = { ip: string | null; userAgent: string | null };

export function describeDevice(ctx: KoaContextWithOIDC): DeviceInfo {
  return { ip: ctx.ip || null, userAgent: storableUserAgent(ctx.get("user-agent") || null) };
}
