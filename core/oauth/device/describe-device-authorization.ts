import type { KoaContextWithOIDC } from "oidc-provider";
import { POLL_INTERVAL_SECONDS } from "../lifetimes.ts";
import { formatUserCode } from "./user-code.ts";

type Answer = { verification_uri: string };

/** The engine's response to a device (RFC 8628 §3.2), with what it leaves out (S57) and the stored user code (S67). */
export function describeDeviceAuthorization({ state }: KoaContextWithOIDC, answer: Answer): Record<string, unknown> {
  const userCode = formatUserCode(state.userCode as string);
  return {
    ...answer,
    user_code: userCode,
    verification_uri_complete: `${answer.verification_uri}?user_code=${userCode}`,
    interval: POLL_INTERVAL_SECONDS,
  };
}
