import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { clientExtension } from "../client-extension.ts";
import { countStoredRequest } from "../count-stored-request.ts";
import { supportedScopes } from "../scopes.ts";

/** Adds our part to a device's request, after the engine has checked its client and parameters. */
export async function prepareDeviceAuthorization(ctx: KoaContextWithOIDC): Promise<void> {
  completeScope(ctx);
  await countStoredRequest(ctx, "device-code", "requests for device codes");
}

/**
 * Without `scope`, the request is for what the app's owner configured; the hub's own command line sends none (C7 in
 * docs/specification/existing-clients.md). A nonexistent scope is an error here, as the hub's devices expect, which lists the existing ones
 * (docs/specification/oauth.md#scopes).
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
