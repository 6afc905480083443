import { isDeepStrictEqual } from "node:util";
import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type NewAuditEvent, recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { OAuthApp } from "../../generated/prisma/client.ts";
import { type AppSettings, type AppSettingsInput, assertConsistent, parseAppSettings } from "./app-settings.ts";
import { changeApp, currentSecret, type LockedApp } from "./change-app.ts";

type Field = keyof AppSettings;
const redirectFields: readonly Field[] = ["redirectUris", "postLogoutRedirectUris"];

/**
 * Changes the settings that are given; the others stay.
 *
 * @throws ServiceError `invalid_request` with the field, `not_found`, and `reauthentication_required` when redirect URIs
 *   would change without a recent sign-in (S113).
 */
export async function updateApp(
  actor: Actor,
  appId: string,
  input: Partial<AppSettingsInput>,
  from: RequestOrigin,
): Promise<OAuthApp> {
  const given = parseAppSettings(input);
  return changeApp(actor, "oauth_app.manage", appId, async (tx, app) => {
    const changed = (Object.keys(given) as Field[]).filter((field) => !isDeepStrictEqual(given[field], app[field]));
    if (changed.length === 0) return app;
    if (changed.some((field) => redirectFields.includes(field))) {
      await requirePermission(actor, "oauth_app.manage_security", app, { what: "OAuth app", tx });
    }
    assertConsistent({ ...app, ...given }, { hasSecret: currentSecret(app) !== undefined });

    const updated = await tx.oAuthApp.update({ where: { id: app.id }, data: { ...given, updatedAt: new Date() } });
    for (const event of auditEvents(app, given, changed)) {
      await recordAuditEvent(tx, {
        ...event,
        actorId: actorId(actor),
        orgId: app.ownerOrgId,
        clientId: app.clientId,
        from,
      });
    }
    return updated;
  });
}

/** Redirect URIs have an event of their own, since a new one is how an app is stolen (S116). */
function auditEvents(
  app: LockedApp,
  given: Partial<AppSettings>,
  changed: readonly Field[],
): Pick<NewAuditEvent, "type" | "data">[] {
  const beforeAndAfter = (fields: readonly Field[]) =>
    Object.fromEntries(fields.map((field) => [field, { before: app[field], after: given[field] ?? null }]));
  const redirects = changed.filter((field) => redirectFields.includes(field));
  const others = changed.filter((field) => !redirectFields.includes(field));
  const events: Pick<NewAuditEvent, "type" | "data">[] = [];
  if (redirects.length > 0) events.push({ type: "oauth_app.redirect_change", data: beforeAndAfter(redirects) });
  if (others.length > 0) events.push({ type: "oauth_app.update", data: beforeAndAfter(others) });
  return events;
}
