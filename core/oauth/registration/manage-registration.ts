import { changesOf } from "#core/audit/changes.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken } from "#core/crypto/token.ts";
import { type Db, db } from "#core/db.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { log } from "#core/log.ts";
import { issueAppSecret } from "../apps/app-secrets.ts";
import { type LockedApp, losesMark, notifyAppChange } from "../apps/change-app.ts";
import { deleteLockedApp } from "../apps/transfer-app.ts";
import { findClientSecret } from "../clients/client-extension.ts";
import { type FetchedLogo, storeLogo } from "../documents/store-document.ts";
import { ProtocolError } from "../protocol-request.ts";
import type { RegisteredMetadata, RegisteredSettings } from "./registration-metadata.ts";

/** An unknown client and a wrong token get the same response (RFC 7592). */
export type Claim = { clientId: string; registrationToken: string };

/** @throws ProtocolError 403 `access_denied` if an operator has blocked the app */
export async function readRegisteredApp({ clientId, registrationToken }: Claim, tx: Db = db()): Promise<OAuthApp> {
  const app = await tx.oAuthApp.findUnique({ where: { registrationTokenHash: hashToken(registrationToken) } });
  if (app?.clientId !== clientId) throw unknownRegistration();
  if (app.blockedAt) throw new ProtocolError(403, "access_denied", "this app was blocked by the operator of the service");
  return app;
}

/** RFC 6750 §3.1: the challenge names no error if no token was sent. */
export function unknownRegistration({ isTokenSent = true } = {}): ProtocolError {
  return new ProtocolError(401, "invalid_token", "the registration access token is not valid for this URL", {
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

/**
 * RFC 7592 §2.2.
 * @param change.isRecorded whether the audit log records the change (S144)
 * @returns the app and, if it became confidential, its new secret
 */
export async function updateRegisteredApp(
  claim: Claim,
  { settings, logo, isRecorded }: { settings: RegisteredSettings; logo: FetchedLogo; isRecorded: boolean },
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
      throw new ProtocolError(400, "invalid_client_metadata", "client_secret: this is not the issued secret");
    }
    const { logo_uri: keptUri } = before.registeredMetadata as RegisteredMetadata;
    const logoId = await storeLogo(tx, before.logoId, keptUri, settings.registeredMetadata.logo_uri, logo);
    const app = await tx.oAuthApp.update({
      where: { id: before.id },
      data: {
        ...settings,
        logoId,
        ...(losesMark(before, { ...settings, logoId }) && { verifiedAt: null }),
        updatedAt: new Date(),
      },
    });
    if (!settings.isConfidential) await tx.oAuthAppSecret.deleteMany({ where: { appId: app.id } });
    const secret = settings.isConfidential && stored.length === 0 ? await issueAppSecret(tx, app.id) : undefined;
    const fields = (Object.keys(app) as (keyof OAuthApp)[]).filter((field) => field !== "updatedAt");
    const [clientId, data] = [app.clientId, changesOf(before, app, fields)];
    if (isRecorded) await recordAuditEvent(tx, { type: "oauth_app.update_registration", clientId, data, from });
    else log().warn({ clientId, data }, "a registration has changed, after many other changes");
    return { app, secret };
  });
}

/** RFC 7592 §2.3. */
export async function deleteRegisteredApp(claim: Claim, from: RequestOrigin): Promise<void> {
  await change(claim, (tx, app) => deleteLockedApp(tx, app, { actorId: null, from }));
}
