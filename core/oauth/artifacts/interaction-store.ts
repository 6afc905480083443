import { Provider } from "oidc-provider";
import type { Db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { isRedirectUriAllowed } from "../apps/app-settings.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { siteSessionOf } from "../site-session.ts";
import { answerArtifact, findArtifact, idHash, type Payload } from "./artifact-store.ts";

export const INTERACTION_ENDED = "This sign-in was completed elsewhere or has expired. Go back to the app and start again.";

/** The app may lose its redirect URI before the user answers (S20, S86). */
export async function findStoredInteraction(id: string): Promise<Payload | undefined> {
  const payload = await findArtifact("Interaction", id);
  const params = payload?.params as { client_id?: unknown; redirect_uri?: unknown } | undefined;
  const client = params && (await findClientMetadata(String(params.client_id)));
  if (!payload || !client || (await isOfEndedLogin(payload))) return undefined;
  const { redirect_uri: redirectUri } = params;
  if (redirectUri === undefined) return payload;
  return isRedirectUriAllowed(client.redirect_uris ?? [], String(redirectUri)) ? payload : undefined;
}

/** The engine cannot check an interaction from before the sign-in, so its login is compared with the site session (S34). */
async function isOfEndedLogin({ result }: Payload): Promise<boolean> {
  const { login } = (result ?? {}) as { login?: { accountId?: string } };
  const ctx = Provider.ctx;
  return login !== undefined && ctx !== undefined && (await siteSessionOf(ctx))?.user.id !== login.accountId;
}

/** Only the first answer counts (S25). */
export async function saveInteractionAnswer(id: string, payload: Payload): Promise<void> {
  if (!(await answerArtifact(id, payload))) throw new ServiceError("gone", INTERACTION_ENDED);
}

/** Call this in the transaction that stores the consequences of the answer. */
export async function saveInteractionResult(tx: Db, id: string, result: Payload): Promise<void> {
  const answered = await tx.$executeRaw`
    UPDATE oauth_artifact SET payload = payload || jsonb_build_object('result', ${JSON.stringify(result)}::jsonb)
    WHERE model = 'Interaction' AND id_hash = ${idHash(id)} AND payload -> 'result' IS NULL`;
  if (answered === 0) throw new ServiceError("gone", INTERACTION_ENDED);
}
