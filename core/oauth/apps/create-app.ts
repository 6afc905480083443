import { randomUUID } from "node:crypto";
import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import type { OAuthApp } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { encodeImage } from "../../images/encode-image.ts";
import { insertImage } from "../../images/insert-image.ts";
import { issueAppSecret } from "./app-secret.ts";
import { type AppSettingsInput, assertConsistent, parseAppSettings } from "./app-settings.ts";
import { auditOrgOf } from "./change-app.ts";
import { notifyAppChange } from "./notify-app-change.ts";

export type NewApp = Pick<AppSettingsInput, "name" | "redirectUris" | "scopes"> &
  Partial<AppSettingsInput> & {
    owner: { userId: string } | { orgId: string };
    /** The uploaded image. */
    logo?: Uint8Array;
    /** Whether the app starts with a secret. It may get or lose one later. */
    isConfidential?: boolean;
    /** Whether an organization's app is bound to it from the start, for token exchange. */
    isBound?: boolean;
  };

export const OWNER_MAX_APPS = 200;

/**
 * Creates an OAuth app for a user or an organization.
 *
 * @returns the app and, if it is confidential, its secret, which is shown here and never again.
 * @throws ServiceError `invalid_request` (also `payload_too_large`) with the field, `not_found` for an owner for whom the actor may not
 * act, `conflict` at the owner's limit.
 */
export async function createApp(actor: Actor, input: NewApp, from: RequestOrigin): Promise<{ app: OAuthApp; secret?: string }> {
  const { owner, logo, isConfidential = false, isBound = false, ...given } = input;
  const settings = {
    isPkceRequired: true,
    isRefreshAllowed: false,
    isDeviceFlowAllowed: false,
    postLogoutRedirectUris: [],
    ...parseAppSettings(given),
  };
  assertConsistent(settings, { isConfidential, isBound });
  const ownership = {
    ownerUserId: "userId" in owner ? owner.userId : null,
    ownerOrgId: "orgId" in owner ? owner.orgId : null,
  };
  if (isBound && !ownership.ownerOrgId) {
    throw new ServiceError("invalid_request", "A person's app is bound to an organization on its page, once it is there.", {
      field: "isBound",
    });
  }

  const encodedLogo = logo && (await encodeImage(logo, "logo"));
  return db().$transaction(async (tx) => {
    await assertMayOwn(tx, actor, ownership);
    const logoId = encodedLogo && (await insertImage(tx, encodedLogo));
    const app = await tx.oAuthApp.create({
      // A UUID is in [A-Za-z0-9_-], is not a metadata document's URL (S85), and can never be a user's ID (S101).
      data: {
        id: newId(),
        clientId: randomUUID(),
        logoId,
        ...ownership,
        ...settings,
        isConfidential,
        boundOrgId: isBound ? ownership.ownerOrgId : null,
      },
    });
    const secret = isConfidential ? await issueAppSecret(tx, app.id) : undefined;
    await recordAuditEvent(tx, {
      type: "oauth_app.create",
      actorId: actorId(actor),
      orgId: auditOrgOf(app),
      clientId: app.clientId,
      data: { name: app.name, scopes: app.scopes, redirectUris: app.redirectUris, isConfidential, isBound },
      from,
    });
    await notifyAppChange(tx, app.clientId);
    return { app, secret };
  });
}

type Ownership = { ownerUserId: string | null; ownerOrgId: string | null };

async function assertMayOwn(tx: Db, actor: Actor, owner: Ownership): Promise<void> {
  const what = owner.ownerOrgId === null ? "User" : "Organization";
  // Locked: no foreign key ties an app to its owner, and if the owner is being deleted, the app would belong to nobody.
  const held =
    owner.ownerOrgId === null
      ? await tx.$queryRaw<unknown[]>`SELECT 1 FROM "user" WHERE id = ${owner.ownerUserId} FOR KEY SHARE`
      : await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${owner.ownerOrgId} FOR KEY SHARE`;
  if (held.length === 0) throw notFound(what);
  await requirePermission(actor, "oauth_app.create", owner, { what, tx });
  if (actor.kind !== "command" && (await tx.oAuthApp.count({ where: owner })) >= OWNER_MAX_APPS) {
    throw new ServiceError("conflict", `Delete an app first: there are ${OWNER_MAX_APPS} already.`);
  }
}
