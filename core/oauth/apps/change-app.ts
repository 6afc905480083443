import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import type { OAuthApp, OAuthAppSecret } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { hasKeys } from "./has-keys.ts";
import { notifyAppChange } from "./notify-app-change.ts";

export type LockedApp = OAuthApp & { secrets: OAuthAppSecret[] };

/**
 * Runs one change of an app in a transaction that holds its row, so that two changes at once (two rotations, say) follow
 * each other, and tells all processes at commit. An app that the actor may not manage is answered as one that does not
 * exist (S136).
 */
export async function changeApp<Result>(
  actor: Actor,
  action: "oauth_app.manage" | "oauth_app.manage_security" | "oauth_app.operate",
  appId: string,
  change: (tx: Db, app: LockedApp) => Promise<Result>,
): Promise<Result> {
  if (!isId(appId)) throw notFound("OAuth app");
  return db().$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM oauth_app WHERE id = ${appId} FOR UPDATE`;
    const app = await tx.oAuthApp.findUnique({ where: { id: appId }, include: { secrets: true } });
    if (!app) throw notFound("OAuth app");
    await requirePermission(actor, action, app, { what: "OAuth app", tx });
    if (app.isFirstParty && action !== "oauth_app.operate") {
      throw new ServiceError("forbidden", "This app comes with the service and is as this version wants it.");
    }
    const result = await change(tx, app);
    await notifyAppChange(tx, app.clientId);
    return result;
  });
}

/** The secret that no rotation has replaced; its predecessors carry an end. */
export function currentSecret(app: LockedApp): OAuthAppSecret | undefined {
  return app.secrets.find((secret) => secret.expiresAt === null);
}

/** Whether it proves who it is, by a secret or by keys; one that does not is a public app. */
export const isAuthenticated = (app: LockedApp): boolean => hasKeys(app) || currentSecret(app) !== undefined;
