import type { JWKS } from "oidc-provider";
import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { type OAuthApp, Prisma } from "../../generated/prisma/client.ts";
import { parsePastedKeys } from "../client-keys.ts";
import { fetchKeySet } from "../fetch-key-set.ts";
import { auditOrgOf, changeApp } from "./change-app.ts";
import { getApp } from "./get-app.ts";
import { parseServerAddress } from "./server-address.ts";

/** One of the two: pasted keys, or the URL at which the app publishes them. The other is empty. */
export type KeysInput = { jwks: string; jwksUri: string };

/**
 * Makes an app authenticate with its own keys (`private_key_jwt`, RFC 7523), replacing those it had. An app authenticates in one way, so
 * its secrets end here (docs/decisions/027). A URL is therefore fetched once first: the app must not lose a working method for a broken
 * one.
 *
 * @throws ServiceError `invalid_request` with the field, `reauthentication_required`, `not_found`.
 */
export async function setKeys(actor: Actor, appId: string, input: KeysInput, from: RequestOrigin): Promise<OAuthApp> {
  // Nobody else may make us fetch anything.
  const { app: known } = await getApp(actor, appId);
  await requirePermission(actor, "oauth_app.manage_security", known, { what: "OAuth app" });
  const { keys, jwksUri } = await readKeys(input);
  return changeApp(
    actor,
    "oauth_app.manage_security",
    appId,
    async (tx, app) => {
      await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id } });
      const jwks = jwksUri ? Prisma.DbNull : ({ keys } as unknown as Prisma.InputJsonObject);
      const updated = await tx.oAuthApp.update({
        where: { id: app.id },
        data: { jwks, jwksUri, isConfidential: true, updatedAt: new Date() },
      });
      await recordAuditEvent(tx, {
        type: "oauth_app.keys_set",
        actorId: actorId(actor),
        orgId: auditOrgOf(app),
        clientId: app.clientId,
        data: { kids: keys.map(({ kid }) => kid ?? null), jwksUri, endedSecrets: app.secrets.map(({ last4 }) => last4) },
        from,
      });
      return updated;
    },
    { isByOrganization: true },
  );
}

async function readKeys({ jwks, jwksUri }: KeysInput): Promise<{ keys: JWKS["keys"]; jwksUri: string | null }> {
  if ((jwks.trim() === "") === (jwksUri.trim() === "")) {
    throw new ServiceError("invalid_request", "Paste the keys, or give the address where they are: one of the two.", {
      field: "jwks",
    });
  }
  if (jwksUri.trim() === "") return { ...(await parsePastedKeys(jwks.trim())), jwksUri: null };
  const address = parseServerAddress(jwksUri, "jwksUri");
  return { ...(await fetchKeySet(address)), jwksUri: address };
}
