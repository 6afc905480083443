import { randomUUID } from "node:crypto";
import { scopes } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { lockOwner } from "../../accounts/handles/find-owner.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { env } from "../../env.ts";
import { checkAll, conflict, invalidRequest, notFound } from "../../errors.ts";
import type { OAuthApp } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { encodeImage } from "../../images/encode-image.ts";
import { insertImage } from "../../images/stored-image.ts";
import { ACCESS_TOKEN_MAX_SECONDS } from "../lifetimes.ts";
import { issueAppSecret } from "./app-secrets.ts";
import { type AppSettingsInput, assertConsistent, parseAppSettings } from "./app-settings.ts";
import { auditOrgOf, notifyAppChange } from "./change-app.ts";
import { countSettings } from "./count-settings.ts";

export type NewApp = Pick<AppSettingsInput, "name" | "redirectUris" | "scopes"> &
  Partial<AppSettingsInput> & {
    owner: { userId: string } | { orgId: string };
    logo?: Uint8Array;
    isConfidential?: boolean;
    isBound?: boolean;
  };

export const OWNER_MAX_APPS = 200;

/** @returns the app, and a confidential app's secret, which is never shown again */
export async function createApp(actor: Actor, input: NewApp, from: RequestOrigin): Promise<{ app: OAuthApp; secret?: string }> {
  const { owner, logo, isConfidential = false, isBound = false, ...given } = input;
  // Keys can be set only on an existing app.
  if (given.securityProfile === "fapi2")
    throw invalidRequest("Create the app first, then set its keys, then choose FAPI 2.0.", "securityProfile");
  const { redirectUris, isPkceRequired = true, isDeviceFlowAllowed = false } = given;
  const { parsed, encodedLogo } = await checkAll({
    parsed: () => parseAppSettings(given),
    rules: () => assertConsistent({ redirectUris, isPkceRequired, isDeviceFlowAllowed }, { isConfidential, isBound }),
    encodedLogo: () => logo && encodeImage(logo, "logo"),
  });
  const settings = { isRefreshAllowed: false, postLogoutRedirectUris: [], ...parsed, isPkceRequired, isDeviceFlowAllowed };
  const ownership = {
    ownerUserId: "userId" in owner ? owner.userId : null,
    ownerOrgId: "orgId" in owner ? owner.orgId : null,
  };
  if (isBound && !ownership.ownerOrgId) {
    throw invalidRequest("Create the app first, then bind it to an organization on the app's page.", "isBound");
  }

  await countSettings(actor, settings, encodedLogo);
  return db().$transaction(async (tx) => {
    await assertMayOwn(tx, actor, ownership);
    const logoId = encodedLogo && (await insertImage(tx, encodedLogo));
    const app = await tx.oAuthApp.create({
      // A UUID cannot be a metadata document's URL (S85) or a user's ID (S101).
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
      actor,
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

/**
 * Locks the owner, because no foreign key ties an app to its owner.
 * @returns false if the owner is gone or disabled
 */
export function lockAppOwner(tx: Db, { ownerUserId, ownerOrgId }: Ownership): Promise<boolean> {
  return lockOwner(tx, { kind: ownerOrgId ? "organization" : "user", id: ownerOrgId ?? ownerUserId });
}

/** Holds a lock until the transaction ends, so that nobody else adds an app to this owner. */
export async function lockAppLimit(tx: Db, owner: Ownership): Promise<{ isReached: boolean }> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`apps of ${owner.ownerOrgId ?? owner.ownerUserId}`}, 0))`;
  return { isReached: (await tx.oAuthApp.count({ where: owner })) >= OWNER_MAX_APPS };
}

async function assertMayOwn(tx: Db, actor: Actor, owner: Ownership): Promise<void> {
  const what = owner.ownerOrgId === null ? "User" : "Organization";
  if (!(await lockAppOwner(tx, owner))) throw notFound(what);
  await requirePermission(actor, "oauth_app.create", owner, { what, tx });
  if (actor.kind !== "command" && (await lockAppLimit(tx, owner)).isReached) {
    throw conflict(`There are already ${OWNER_MAX_APPS} apps. Delete one first.`);
  }
}

/** The public hub's command line has this ID built in (C8 in docs/specification/existing-clients.md). */
export const CLI_CLIENT_ID = "26be6b09-91c5-47da-9861-d2d2bb7a7e36";

/** Safe when several processes run it at once (C9 in docs/specification/existing-clients.md). */
export async function ensureCliApp(): Promise<void> {
  const name = `${env().BRAND_NAME} CLI`;
  await db().$transaction(async (tx) => {
    const count = await tx.$executeRaw`
      INSERT INTO oauth_app AS app (id, client_id, name, scopes, redirect_uris, post_logout_redirect_uris, access_token_seconds,
        is_device_flow_allowed, is_refresh_allowed, is_pkce_required, is_first_party, verified_at)
      VALUES (${newId()}, ${CLI_CLIENT_ID}, ${name}, ${[...scopes]}, '{}', '{}', ${ACCESS_TOKEN_MAX_SECONDS},
        true, true, true, true, now())
      ON CONFLICT (client_id) DO UPDATE SET name = excluded.name, scopes = excluded.scopes,
        access_token_seconds = excluded.access_token_seconds, updated_at = now()
      WHERE (app.name, app.scopes, app.access_token_seconds)
        IS DISTINCT FROM (excluded.name, excluded.scopes, excluded.access_token_seconds)`;
    if (count > 0) await notifyAppChange(tx, CLI_CLIENT_ID);
  });
}
