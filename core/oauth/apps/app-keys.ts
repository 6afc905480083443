import type { JWKS } from "oidc-provider";
import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { conflict, invalidRequest } from "#core/errors.ts";
import { type OAuthApp, Prisma } from "#core/generated/prisma/client.ts";
import { parsePastedKeys } from "../clients/client-keys.ts";
import { fetchKeySet } from "../clients/fetch-client-keys.ts";
import { parseServerAddress } from "./app-settings.ts";
import { changeApp, hasKeys } from "./change-app.ts";
import { countSettings } from "./count-settings.ts";
import { assertFapi } from "./fapi-profile.ts";
import { getApp } from "./get-app.ts";

type KeysInput = { jwks: string; jwksUri: string };

/**
 * An app authenticates in one way, so its secrets end here (RFC 7523, docs/decisions/027). The keys are read first, because an
 * unusable URL must not end a secret.
 */
export async function setKeys(actor: Actor, appId: string, input: KeysInput, from: RequestOrigin): Promise<OAuthApp> {
  const { app: known } = await getApp(actor, appId);
  await requirePermission(actor, "oauth_app.manage_security", known, { what: "OAuth app" });
  const { keys, jwksUri } = await readKeys(input);
  await countSettings(actor, jwksUri ? { jwksUri } : { jwks: JSON.stringify(keys) }, null);
  return changeApp(actor, { appId, action: "oauth_app.manage_security", isOverMembers: true, from }, async (tx, app, record) => {
    if (app.securityProfile === "fapi2") assertFapi({ ...app, jwks: { keys } as object as Prisma.JsonObject, jwksUri });
    await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id } });
    const jwks = jwksUri ? Prisma.DbNull : ({ keys } as unknown as Prisma.InputJsonObject);
    const updated = await tx.oAuthApp.update({
      where: { id: app.id },
      data: { jwks, jwksUri, isConfidential: true, updatedAt: new Date() },
    });
    await record({
      type: "oauth_app.keys_set",
      data: { kids: keys.map(({ kid }) => kid ?? null), jwksUri, endedSecrets: app.secrets.map(({ last4 }) => last4) },
    });
    return updated;
  });
}

async function readKeys({ jwks, jwksUri }: KeysInput): Promise<{ keys: JWKS["keys"]; jwksUri: string | null }> {
  if ((jwks.trim() === "") === (jwksUri.trim() === "")) {
    throw invalidRequest("Enter either the keys or their URL.", "jwks");
  }
  if (jwksUri.trim() === "") return { ...(await parsePastedKeys(jwks.trim())), jwksUri: null };
  const address = parseServerAddress(jwksUri, "jwksUri");
  return { ...(await fetchKeySet(address)), jwksUri: address };
}

export async function removeKeys(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  await changeApp(actor, { appId, action: "oauth_app.manage_security", isOverMembers: true, from }, async (tx, app, record) => {
    if (!hasKeys(app)) throw conflict("The app has no keys.");
    if (app.securityProfile === "fapi2") throw conflict("FAPI 2.0 needs keys: choose the standard profile first.");
    await tx.oAuthApp.update({
      where: { id: app.id },
      data: { jwks: Prisma.DbNull, jwksUri: null, isConfidential: false, isPkceRequired: true, updatedAt: new Date() },
    });
    await record({ type: "oauth_app.keys_delete", data: { jwksUri: app.jwksUri } });
  });
}
