import { randomUUID } from "node:crypto";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken, newToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { env } from "#core/env.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { newId } from "#core/ids.ts";
import { issueAppSecret } from "../apps/app-secret.ts";
import { notifyAppChange } from "../apps/notify-app-change.ts";
import { makeRoom } from "./make-room.ts";
import type { RegisteredSettings } from "./registration-metadata.ts";

export type RegisteredApp = { app: OAuthApp; registrationToken: string; secret?: string };

/**
 * Makes an app that nobody here answers for: without an owner, never verified by itself, and asked about like any other. It gets
 * device codes and refresh tokens without asking for them (docs/specification/oauth.md#dynamic-registration).
 * @returns with the token that changes and deletes it and, for a confidential app, its secret: both are shown here and never again.
 */
export async function registerApp(settings: RegisteredSettings, from: RequestOrigin): Promise<RegisteredApp> {
  await makeRoom();
  const registrationToken = newToken(`${env().TOKEN_PREFIX}registration_`);
  return db().$transaction(async (tx) => {
    const app = await tx.oAuthApp.create({
      data: {
        id: newId(),
        // A UUID, as of every app: never a document's address (S85) and never a user's id (S101).
        clientId: randomUUID(),
        ...settings,
        isPkceRequired: true,
        isRefreshAllowed: true,
        isDeviceFlowAllowed: true,
        registrationTokenHash: hashToken(registrationToken),
      },
    });
    const secret = settings.isConfidential ? await issueAppSecret(tx, app.id) : undefined;
    await recordAuditEvent(tx, {
      type: "oauth_app.register",
      clientId: app.clientId,
      data: { name: app.name, redirectUris: app.redirectUris, scopes: app.scopes, isConfidential: app.isConfidential },
      from,
    });
    await notifyAppChange(tx, app.clientId);
    return { app, registrationToken, secret };
  });
}
