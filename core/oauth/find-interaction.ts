import { ServiceError } from "#core/errors.ts";
import { isRedirectUriAllowed } from "./apps/redirect-uri.ts";
import { answerArtifact, findArtifact, type Payload } from "./artifact-store.ts";
import { findClientMetadata } from "./clients.ts";

export const RUN_OUT = "This sign-in was finished elsewhere or has run out. Go back to the app and start again.";

/**
 * An authorization request that waits for its user. The engine checks client and redirect URI only when the request arrives, but a user may
 * take an hour to answer. If the app was deleted meanwhile, or no longer has that redirect URI, the request is over, and neither a code nor
 * an error is sent there (S20, S86).
 */
export async function findInteraction(id: string): Promise<Payload | undefined> {
  const payload = await findArtifact("Interaction", id);
  const params = payload?.params as { client_id?: unknown; redirect_uri?: unknown } | undefined;
  const client = params && (await findClientMetadata(String(params.client_id)));
  if (!client) return undefined;
  const { redirect_uri: redirectUri } = params;
  // A device has none.
  if (redirectUri === undefined) return payload;
  return isRedirectUriAllowed(client.redirect_uris ?? [], String(redirectUri)) ? payload : undefined;
}

/** Stores a user's answer. The first one counts (S25). @throws ServiceError `gone` for all others */
export async function saveAnswer(id: string, payload: Payload): Promise<void> {
  if (!(await answerArtifact(id, payload))) throw new ServiceError("gone", RUN_OUT);
}
