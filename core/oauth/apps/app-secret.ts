import { hashToken, newToken } from "../../crypto/token.ts";
import type { Db } from "../../db.ts";
import { env } from "../../env.ts";
import { newId } from "../../ids.ts";

/** Creates an app's secret of 256 random bits in `[A-Za-z0-9_-]` and stores its hash; only the return value contains the secret. */
export async function issueAppSecret(db: Db, appId: string): Promise<string> {
  const secret = newToken(`${env().TOKEN_PREFIX}secret_`);
  await db.oAuthAppSecret.create({ data: { id: newId(), appId, secretHash: hashToken(secret), last4: secret.slice(-4) } });
  return secret;
}
