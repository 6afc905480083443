import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { addressKey } from "#core/accounts/address-key.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "#core/accounts/throttle.ts";
import { isServiceError } from "#core/errors.ts";
import { clientExtension } from "../client-extension.ts";
import { supportedScopes } from "../scopes.ts";

/** Device codes from one address, for one app and for all (S56): a class that signs in at once has room, a flood has not. */
export const DEVICE_CODES_OF_CLIENT: ThrottleLimit = { limit: 100, windowSeconds: 60 };
export const DEVICE_CODES_OF_ADDRESS: ThrottleLimit = { limit: 300, windowSeconds: 60 };

/** What is ours to say of a device's request, once the engine has judged its client and parameters. */
export async function prepareDeviceAuthorization(ctx: KoaContextWithOIDC): Promise<void> {
  completeScope(ctx);
  await countDeviceCode(ctx);
}

/**
 * Without `scope` the request is for what the app's owner has configured; the hub's own command line sends none (wire.md 0.7).
 * A scope that does not exist is an error here, as devices of the hub expect, with those that do (wire.md 1.4).
 */
function completeScope({ oidc: { params, body, client } }: KoaContextWithOIDC): void {
  if (!params || !client) return;
  const asked = String(body?.scope || "")
    .split(" ")
    .filter(Boolean);
  if (asked.length === 0) params.scope = clientExtension(client).defaultScope;
  if (asked.every((scope) => supportedScopes.includes(scope))) return;
  throw new errors.InvalidRequest(`there is an unknown scope; those that exist are ${supportedScopes.join(" ")}`);
}

async function countDeviceCode(ctx: KoaContextWithOIDC): Promise<void> {
  const address = addressKey(ctx.ip) ?? "unknown";
  try {
    const ofClient = `${address} ${ctx.oidc.client?.clientId}`;
    await consumeThrottle(throttleKey("device-code-client", ofClient), DEVICE_CODES_OF_CLIENT);
    await consumeThrottle(throttleKey("device-code-address", address), DEVICE_CODES_OF_ADDRESS);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const { retryAfterSeconds } = error;
    ctx.set("Retry-After", String(retryAfterSeconds));
    const description = `too many device codes were asked for from here; try again in ${retryAfterSeconds} seconds`;
    const refusal = new errors.CustomOIDCProviderError("temporarily_unavailable", description);
    throw Object.assign(refusal, { status: 429, statusCode: 429 });
  }
}
