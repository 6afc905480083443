import { isDeepStrictEqual } from "node:util";
import { changesOf } from "#core/audit/changes.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { type Db, db } from "#core/db.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { issueAppSecret } from "../apps/app-secret.ts";
import type { LockedApp } from "../apps/change-app.ts";
import { withdrawApp } from "../apps/delete-app.ts";
import { notifyAppChange } from "../apps/notify-app-change.ts";
import { findClientSecret } from "../client-secret.ts";
import { ProtocolError } from "../protocol-request.ts";
import type { RegisteredSettings } from "./registration-metadata.ts";

/**
 * An app's own hand on its registration (RFC 7592). The token is all that counts: an unknown client, another one's and a wrong
 * token are answered the same.
 */
export type Claim = { clientId: string; registrationToken: string };

/** @throws ProtocolError 401 `invalid_token`; 403 `access_denied` once an operator has blocked the app */
export async function readRegisteredApp({ clientId, registrationToken }: Claim, tx: Db = db()): Promise<OAuthApp> {
  const app = await tx.oAuthApp.findUnique({ where: { registrationTokenHash: hashToken(registrationToken) } });
  if (app?.clientId !== clientId) throw unknownRegistration();
  if (app.blockedAt) throw new ProtocolError(403, "access_denied", "this app was blocked by the operator of the service");
  return app;
}

/** RFC 6750 §3.1: the challenge names no error where no token was sent. */
export function unknownRegistration({ isTokenSent = true } = {}): ProtocolError {
  return new ProtocolError(401, "invalid_token", "the registration access token is not valid for this address", {
    "WWW-Authenticate": isTokenSent ? 'Bearer error="invalid_token"' : "Bearer",
  });
}

async function change<Result>(claim: Claim, work: (tx: Db, app: LockedApp) => Promise<Result>): Promise<Result> {
  return db().$transaction(async (tx) => {
    const { id, clientId } = await readRegisteredApp(claim, tx);
    await tx.$queryRaw`SELECT 1 FROM oauth_app WHERE id = ${id} FOR UPDATE`;
    const app = await tx.oAuthApp.findUnique({ where: { id }, include: { secrets: true } });
    if (!app) throw unknownRegistration();
    const result = await work(tx, app);
    await notifyAppChange(tx, clientId);
    return result;
  });
}

/** What an operator goes by who marks an app as verified, and a person who lets it in. */
const LOOKS = ["name", "homepageUrl", "redirectUris"] as const;

/**
 * Replaces the whole registration (RFC 7592 §2.2). People who have allowed the app are asked again if it looks different now (S36),
 * and the operator's mark is gone: nobody answers for such an app, and whoever has its token could give it any name.
 * @returns with the new secret where the app has become confidential; one that becomes public loses its secrets.
 */
export async function updateRegisteredApp(
  claim: Claim,
  settings: RegisteredSettings,
  presentedSecret: string | undefined,
  from: RequestOrigin,
): Promise<{ app: OAuthApp; secret?: string }> {
  return change(claim, async (tx, before) => {
    const stored = before.secrets.map(({ id, secretHash, expiresAt }) => ({
      id,
      hash: secretHash,
      expiresAt: expiresAt?.getTime() ?? null,
    }));
    // RFC 7592 §2.2: a client must not choose its secret.
    if (presentedSecret !== undefined && !findClientSecret(stored, presentedSecret)) {
      throw new ProtocolError(400, "invalid_client_metadata", "client_secret: this is not the secret that was issued");
    }
    const isAnother = LOOKS.some((field) => !isDeepStrictEqual(before[field], settings[field]));
    const app = await tx.oAuthApp.update({
      where: { id: before.id },
      data: { ...settings, ...(isAnother && { verifiedAt: null }), updatedAt: new Date() },
    });
    if (!settings.isConfidential) await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id } });
    const secret = settings.isConfidential && stored.length === 0 ? await issueAppSecret(tx, app.id) : undefined;
    const fields = (Object.keys(app) as (keyof OAuthApp)[]).filter((field) => field !== "updatedAt");
    await recordAuditEvent(tx, {
      type: "oauth_app.update_registration",
      clientId: app.clientId,
      data: changesOf(before, app, fields),
      from,
    });
    return { app, secret };
  });
}

/** Ends the registration with all tokens and consents (RFC 7592 §2.3). */
export async function deleteRegisteredApp(claim: Claim, from: RequestOrigin): Promise<void> {
  await change(claim, (tx, app) => withdrawApp(tx, app, { actorId: null, from }));
}
