import { type KoaContextWithOIDC, Provider } from "oidc-provider";
import { storableUserAgent } from "#core/audit/record-audit-event.ts";
import type { Payload } from "../artifacts/artifact-store.ts";
import { storeOfParty } from "../artifacts/store-of-party.ts";
import { POLL_INTERVAL_SECONDS } from "../lifetimes.ts";
import { formatUserCode, newUserCode } from "./user-code.ts";

/** Even with a million live codes, all five tries fail only once in 10²² requests. */
const TRIES = 5;

/** `describeDeviceAuthorization` sends the stored code to the device (S67). */
export async function storeDeviceCode(id: string, payload: Payload, expiresIn: number): Promise<void> {
  for (let { userCode } = payload, tries = 1; ; userCode = newUserCode(), tries++) {
    try {
      await storeOfParty("DeviceCode", id, { ...payload, userCode }, expiresIn);
      const ctx = Provider.ctx;
      if (ctx) ctx.state.userCode = userCode;
      return;
    } catch (error) {
      if (!isUserCodeTaken(error) || tries === TRIES) throw error;
    }
  }
}

function isUserCodeTaken(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === "23505" && constraint === "oauth_artifact_user_code_unique";
}

type Answer = { verification_uri: string };

/** RFC 8628 §3.2, with fields that the engine lacks (S57) and the stored user code (S67). */
export function describeDeviceAuthorization({ state }: KoaContextWithOIDC, answer: Answer): Record<string, unknown> {
  const userCode = formatUserCode(state.userCode as string);
  return {
    ...answer,
    user_code: userCode,
    verification_uri_complete: `${answer.verification_uri}?user_code=${userCode}`,
    interval: POLL_INTERVAL_SECONDS,
  };
}

/** See S64. */
export type DeviceInfo = { ip: string | null; userAgent: string | null };

export function describeDevice(ctx: KoaContextWithOIDC): DeviceInfo {
  return { ip: ctx.ip || null, userAgent: storableUserAgent(ctx.get("user-agent") || null) };
}
