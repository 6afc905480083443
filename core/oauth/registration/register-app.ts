import { randomUUID } from "node:crypto";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken, newToken } from "#core/crypto/token.ts";
import { db, pool } from "#core/db.ts";
import { env } from "#core/env.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { newId } from "#core/ids.ts";
import { insertImage } from "#core/images/stored-image.ts";
import { issueAppSecret } from "../apps/app-secrets.ts";
import { notifyAppChange } from "../apps/change-app.ts";
import type { FetchedLogo } from "../documents/store-document.ts";
import type { RegisteredSettings } from "./registration-metadata.ts";

type RegisteredApp = { app: OAuthApp; registrationToken: string; secret?: string };

/**
 * See docs/specification/oauth.md#dynamic-registration.
 * @param logo the image at its `logo_uri`
 * @returns the registration access token and, if there is one, the secret. Neither is shown again.
 */
export async function registerApp(settings: RegisteredSettings, logo: FetchedLogo, from: RequestOrigin): Promise<RegisteredApp> {
  await makeRoom();
  const registrationToken = newToken(`${env().TOKEN_PREFIX}registration_`);
  return db().$transaction(async (tx) => {
    const app = await tx.oAuthApp.create({
      data: {
        id: newId(),
        // A UUID cannot be a metadata document's URL (S85) or a user's ID (S101).
        clientId: randomUUID(),
        ...settings,
        logoId: logo && (await insertImage(tx, logo)),
        isPkceRequired: true,
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

const UNUSED_MAX = 10_000;
/** A genuine app gets its first consent within minutes, so an older app without consents can be deleted. */
const SAFE_INTERVAL = "1 hour";

const IS_UNUSED = `registration_token_hash IS NOT NULL
  AND NOT EXISTS (SELECT FROM oauth_consent c WHERE c.client_id = oauth_app.client_id)`;

/** Deletes unused apps. A refusal would let a flood lock out everybody else. */
export async function makeRoom(max = UNUSED_MAX): Promise<void> {
  const { rows } = await pool().query<{ unused: number }>({
    name: "count-unused-registrations",
    text: `SELECT count(*)::int AS unused FROM oauth_app WHERE ${IS_UNUSED}`,
  });
  const excess = (rows[0]?.unused ?? 0) + 1 - max;
  if (excess <= 0) return;
  await pool().query({
    name: "drop-unused-registrations",
    text: `DELETE FROM oauth_app WHERE id IN (
             SELECT id FROM oauth_app WHERE ${IS_UNUSED} AND updated_at < now() - interval '${SAFE_INTERVAL}'
              ORDER BY updated_at LIMIT $1)`,
    values: [excess],
  });
}
