import { isDeepStrictEqual } from "node:util";
import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { changesOf } from "../../audit/changes.ts";
import type { NewAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { checkAll } from "../../errors.ts";
import type { OAuthApp } from "../../generated/prisma/client.ts";
import { encodeImage } from "../../images/encode-image.ts";
import { replaceImage } from "../../images/stored-image.ts";
import { type AppSettings, type AppSettingsInput, assertConsistent, parseAppSettings } from "./app-settings.ts";
import { boundAuthority, changeApp, isAuthenticated, type LockedApp, losesMark } from "./change-app.ts";
import { countSettings } from "./count-settings.ts";
import { assertFapi } from "./fapi-profile.ts";
import { getApp } from "./get-app.ts";

type Field = keyof AppSettings;
const redirectFields: readonly Field[] = ["redirectUris", "postLogoutRedirectUris"];
/**
 * S113: with these fields, a thief of a session could redirect users or logout notices, send out codes for devices in the app's
 * name, or end the guarantees of FAPI 2.0.
 */
const sensitiveFields: readonly Field[] = [...redirectFields, "backchannelLogoutUri", "isDeviceFlowAllowed", "securityProfile"];

type AppChanges = Partial<AppSettingsInput> & { logo?: Uint8Array | null };

/** @throws ServiceError `reauthentication_required` if `sensitiveFields` change, or a bound app gets more scopes (S113) */
export async function updateApp(actor: Actor, appId: string, changes: AppChanges, from: RequestOrigin): Promise<OAuthApp> {
  const { logo, ...input } = changes;
  const { given, encodedLogo } = await checkAll({
    given: () => parseAppSettings(input),
    encodedLogo: () => logo && encodeImage(logo, "logo"),
  });
  const { app: known } = await getApp(actor, appId);
  await countSettings(actor, given, encodedLogo, known);
  // A bound app gets its scopes for any member without consent, so the organization decides about them.
  const isScopesOnly = Object.keys(given).every((field) => field === "scopes") && logo === undefined;
  const by = { appId, action: "oauth_app.manage", isOverMembers: isScopesOnly, from } as const;
  return changeApp(actor, by, async (tx, app, record) => {
    const changed = (Object.keys(given) as Field[]).filter((field) => !isDeepStrictEqual(given[field], app[field]));
    const isLogoChanged = encodedLogo ? true : encodedLogo === null && app.logoId !== null;
    if (changed.length === 0 && !isLogoChanged) return app;
    if (changed.some((field) => sensitiveFields.includes(field))) {
      await requirePermission(actor, "oauth_app.manage_security", app, { what: "OAuth app", tx });
    }
    if (changed.includes("scopes") && app.boundOrgId) {
      // A session that was left open must not give the app more rights over all members (S113).
      const isWider = given.scopes?.some((scope) => !app.scopes.includes(scope));
      const action = isWider ? "oauth_app.manage_security" : "oauth_app.manage";
      await requirePermission(actor, action, boundAuthority(app.boundOrgId), { what: "OAuth app", tx });
    }
    const next = { ...app, ...given };
    if (next.securityProfile === "fapi2") assertFapi(next);
    assertConsistent(next, { isConfidential: isAuthenticated(app), isBound: app.boundOrgId !== null });

    const logoId = isLogoChanged ? await replaceImage(tx, app.logoId, encodedLogo ?? null) : app.logoId;
    const wasVerified = losesMark(app, { ...next, logoId });
    const updated = await tx.oAuthApp.update({
      where: { id: app.id },
      data: { ...given, logoId, ...(wasVerified && { verifiedAt: null }), updatedAt: new Date() },
    });
    for (const { data, ...event } of auditEvents(app, given, changed, isLogoChanged)) {
      await record({ ...event, data: { ...data, ...(wasVerified && { wasVerified }) } });
    }
    return updated;
  });
}

type AppEvent = Pick<NewAuditEvent, "type" | "data" | "isRemoval">;

/** A redirect URI that an attacker adds takes over an app, so these changes have an entry of their own (S116). */
function auditEvents(app: LockedApp, given: Partial<AppSettings>, changed: readonly Field[], isLogoChanged: boolean): AppEvent[] {
  const changes = (fields: readonly Field[]) => changesOf(app, given, fields);
  const redirects = changed.filter((field) => redirectFields.includes(field));
  const others = changed.filter((field) => !redirectFields.includes(field));
  const events: AppEvent[] = [];
  if (redirects.length > 0) {
    // Removals are not limited, so a changed order must not count as one.
    const isRemoval = redirects.every((field) => {
      const [before, after] = [app[field] as string[], given[field] as string[]];
      return after.length < before.length && after.every((uri) => before.includes(uri));
    });
    events.push({ type: "oauth_app.redirect_change", data: changes(redirects), isRemoval });
  }
  if (others.length > 0 || isLogoChanged) {
    events.push({ type: "oauth_app.update", data: { ...changes(others), ...(isLogoChanged && { logo: "changed" }) } });
  }
  return events;
}
