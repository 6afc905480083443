import { Provider } from "oidc-provider";
import type { Payload } from "../artifact-store.ts";
import { storeOfParty } from "../store-of-party.ts";
import { newUserCode } from "./user-code.ts";

/** With a million live codes, five codes in a row are all taken once in 10²¹ requests. */
const TRIES = 5;

/**
 * Stores a device code with the user code that the engine generated or, if that one is taken, another (S67). `describeDeviceAuthorization`
 * then sends that one to the device.
 */
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
