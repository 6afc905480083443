import type { Actor } from "#core/access/actor.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken, newToken } from "#core/crypto/token.ts";
import type { Db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { conflict, invalidRequest } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { changeApp, currentSecret, hasKeys } from "./change-app.ts";

/** @returns the secret, which is never shown again */
export async function addSecret(actor: Actor, appId: string, from: RequestOrigin): Promise<{ secret: string }> {
  return changeApp(actor, { appId, action: "oauth_app.manage_security", isOverMembers: true, from }, async (tx, app, record) => {
    if (hasKeys(app)) throw conflict("The app authenticates with its keys. Delete them to use a secret.");
    if (currentSecret(app)) throw conflict("The app already has a secret. Rotate it to get a new one.");
    const secret = await issueAppSecret(tx, app.id);
    await tx.oAuthApp.update({ where: { id: app.id }, data: { isConfidential: true, updatedAt: new Date() } });
    await record({ type: "oauth_app.secret_create", data: { last4: secret.slice(-4) } });
    return { secret };
  });
}

/** Long enough for a release, but short enough to end a leaked secret. */
export const SECRET_OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;

/**
 * See S52. The expiry of a secret that was replaced earlier is never postponed.
 * @returns the new secret, which is never shown again
 */
export async function rotateSecret(
  actor: Actor,
  appId: string,
  { overlapSeconds = 0 }: { overlapSeconds?: number },
  from: RequestOrigin,
): Promise<{ secret: string; oldSecretEndsAt: Date }> {
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > SECRET_OVERLAP_MAX_SECONDS) {
    throw invalidRequest("Keep the old secret valid for at most 7 days.", "overlapSeconds");
  }
  return changeApp(actor, { appId, action: "oauth_app.manage_security", isOverMembers: true, from }, async (tx, app, record) => {
    const old = currentSecret(app);
    if (!old) throw conflict("The app has no secret. Add one instead.");

    const oldSecretEndsAt = new Date(Date.now() + overlapSeconds * 1000);
    if (overlapSeconds === 0) {
      await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id } });
    } else {
      await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id, expiresAt: { lte: new Date() } } });
      await tx.oAuthAppSecret.updateMany({
        where: { appId: app.id, OR: [{ expiresAt: null }, { expiresAt: { gt: oldSecretEndsAt } }] },
        data: { expiresAt: oldSecretEndsAt },
      });
    }
    const secret = await issueAppSecret(tx, app.id);
    await record({ type: "oauth_app.secret_rotate", data: { oldLast4: old.last4, last4: secret.slice(-4), overlapSeconds } });
    return { secret, oldSecretEndsAt };
  });
}

/** An app without secrets is public (docs/specification/oauth.md#oauth-apps, S52), so PKCE is required again. */
export async function deleteSecret(actor: Actor, appId: string, from: RequestOrigin): Promise<void> {
  await changeApp(actor, { appId, action: "oauth_app.manage_security", isOverMembers: true, from }, async (tx, app, record) => {
    if (app.secrets.length === 0) throw conflict("The app has no secret.");
    await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id } });
    await tx.oAuthApp.update({
      where: { id: app.id },
      data: { isConfidential: false, isPkceRequired: true, updatedAt: new Date() },
    });
    await record({ type: "oauth_app.secret_delete", data: { last4: app.secrets.map((secret) => secret.last4) } });
  });
}

/** @returns 256 random bits in `[A-Za-z0-9_-]`, of which only the hash is stored */
export async function issueAppSecret(db: Db, appId: string): Promise<string> {
  const secret = newToken(`${env().TOKEN_PREFIX}secret_`);
  await db.oAuthAppSecret.create({ data: { id: newId(), appId, secretHash: hashToken(secret), last4: secret.slice(-4) } });
  return secret;
}
