import { hash } from "node:crypto";
import { type KoaContextWithOIDC, Provider } from "oidc-provider";
import { type ThrottleLimit, throttleKey } from "#core/accounts/throttle.ts";
import { pool } from "#core/db.ts";
import {
  ASSERTIONS_OF_ADDRESS,
  ASSERTIONS_OF_CLIENT,
  countOrRefuse,
  countStoredRequest,
} from "../authorization/prepare-authorization.ts";
import { clientExtension } from "../clients/client-extension.ts";
import { PROOF_AHEAD_SECONDS } from "../lifetimes.ts";
import { requestRows } from "./request-rows.ts";
import { ownerOf } from "./store-of-party.ts";

/** Counts the proofs of the account's tokens and the assertions of its apps together. */
const REMEMBERED_OF_ACCOUNT: ThrottleLimit = { limit: 6_000, windowSeconds: 60 };

export function rememberedCounter(accountId: string): [key: string, limit: ThrottleLimit] {
  return [throttleKey("remembered", accountId), REMEMBERED_OF_ACCOUNT];
}

const REMEMBER = `INSERT INTO oauth_artifact (model, id_hash, payload, expires_at) VALUES ('ReplayDetection', $1, '{}', to_timestamp($2))
  ON CONFLICT (model, id_hash) DO UPDATE SET expires_at = excluded.expires_at WHERE oauth_artifact.expires_at < now()`;

/**
 * RFC 7523 §3 (S73), RFC 9449 §11.1. Only one of several simultaneous requests is the first.
 * @param until Unix seconds. It is remembered a minute longer, because a proof's clock may be a minute ahead.
 */
export async function isFirstUse(clientId: string, jti: string, until: number): Promise<boolean> {
  const id = hash("sha256", `${clientId}\0${jti}`, "base64url");
  const values = [id, until + PROOF_AHEAD_SECONDS];
  const { rowCount } = await pool().query({ name: "replay-remember", text: REMEMBER, values });
  return rowCount === 1;
}

/** The engine calls this before the service's checks. Stored values are never evicted, so calls are limited (S143). */
export async function isFirstUseInRequest(clientId: string, jti: string, until: number): Promise<boolean> {
  const ctx = Provider.ctx;
  if (ctx) await countRemembered(ctx, clientId);
  return isFirstUse(clientId, jti, until);
}

async function countRemembered(ctx: KoaContextWithOIDC, clientId: string): Promise<void> {
  const { client, entities, route } = ctx.oidc;
  if (client && route === "pushed_authorization_request") {
    if (client.clientAuthMethod === "none") return countStoredRequest(ctx, "pushed-proof", "proofs");
    // Anybody can register any number of clients with a secret. client-assertion.ts counts assertions itself.
    if (clientExtension(client).isOwnerless && client.clientAuthMethod !== "private_key_jwt") {
      return countStoredRequest(ctx, "pushed-proof", "proofs", [ASSERTIONS_OF_CLIENT, ASSERTIONS_OF_ADDRESS]);
    }
  }
  // The engine sets the token's Grant only after checking the proof.
  const [accountOfToken] = requestRows().accounts.keys();
  const accountId = entities.AccessToken?.accountId ?? entities.Grant?.accountId ?? accountOfToken ?? (await ownerOf(clientId));
  if (accountId) await countOrRefuse(ctx, "proofs", [rememberedCounter(accountId)]);
}
