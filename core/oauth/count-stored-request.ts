import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { addressKey } from "#core/accounts/address-key.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "#core/accounts/throttle.ts";
import { isServiceError } from "#core/errors.ts";

/**
 * Limits for requests that anyone can send and that store something, per address, per app and in total (S56): they allow a class that signs
 * in at once, but not a flood.
 */
export const STORED_REQUESTS_OF_CLIENT: ThrottleLimit = { limit: 100, windowSeconds: 60 };
export const STORED_REQUESTS_OF_ADDRESS: ThrottleLimit = { limit: 300, windowSeconds: 60 };

/**
 * Counts one of these requests.
 * @param what they are, for the sentence: "device codes"
 * @throws `temporarily_unavailable`, status 429, with `Retry-After`
 */
export async function countStoredRequest(
  ctx: KoaContextWithOIDC,
  kind: "device-code" | "pushed-request",
  what: string,
): Promise<void> {
  const address = addressKey(ctx.ip, 48) ?? "unknown";
  try {
    const ofClient = `${address} ${ctx.oidc.client?.clientId}`;
    await consumeThrottle(throttleKey(`${kind}-client`, ofClient), STORED_REQUESTS_OF_CLIENT);
    await consumeThrottle(throttleKey(`${kind}-address`, address), STORED_REQUESTS_OF_ADDRESS);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const { retryAfterSeconds } = error;
    ctx.set("Retry-After", String(retryAfterSeconds));
    const description = `too many ${what} came from here; try again in ${retryAfterSeconds} seconds`;
    const refusal = new errors.CustomOIDCProviderError("temporarily_unavailable", description);
    throw Object.assign(refusal, { status: 429, statusCode: 429 });
  }
}
