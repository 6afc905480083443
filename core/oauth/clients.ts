import type { AllClientMetadata } from "oidc-provider";
import { hashToken, isEqualInConstantTime } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { isListening, listen } from "#core/notifications.ts";
import { OFFLINE_ACCESS } from "./scopes.ts";

/**
 * From an OAuth app (the product record) to a client (the protocol party). Client records are kept in this process until
 * Postgres says that the app changed; while notifications are away nothing is kept, so that a deleted secret or a removed
 * redirect URI is never honoured for longer (S52).
 */

/** What of the app travels on the engine's client besides RFC 7591 metadata. */
export type ClientExtension = {
  appId: string;
  isPkceRequired: boolean;
  isRefreshAlways: boolean;
  accessTokenSeconds: number | null;
  secrets: { hash: string; expiresAt: number | null }[];
};

/** The metadata key under which the extension travels. */
export const CLIENT_EXTENSION = "keyhook";

const CHANNEL = "oauth_app";
const CACHE_SIZE = 1_000;
// The engine wants some secret for a client that authenticates with one; ours are hashed and compared by isClientSecret.
const SECRET_IS_HASHED = "hashed";

type Cache = { clients: Map<string, AllClientMetadata | undefined>; isWatched: boolean };
const keeper = globalThis as typeof globalThis & { keyhookClients?: Cache };

function cache(): Cache {
  keeper.keyhookClients ??= { clients: new Map(), isWatched: false };
  return keeper.keyhookClients;
}

function watch(): void {
  const kept = cache();
  if (kept.isWatched) return;
  kept.isWatched = true;
  void listen(CHANNEL, (clientId) => (clientId ? kept.clients.delete(clientId) : kept.clients.clear()));
}

/** The engine's metadata for a client id; undefined for an unknown or blocked one. */
export async function findClientMetadata(clientId: string): Promise<AllClientMetadata | undefined> {
  const { clients } = cache();
  watch();
  if (isListening() && clients.has(clientId)) return clients.get(clientId);
  const metadata = await loadClient(clientId);
  // Unknown ids are not kept: anybody can make them up.
  if (metadata && isListening()) {
    if (clients.size >= CACHE_SIZE) clients.clear();
    clients.set(clientId, metadata);
  }
  return metadata;
}

async function loadClient(clientId: string): Promise<AllClientMetadata | undefined> {
  const app = await db().oAuthApp.findUnique({ where: { clientId }, include: { secrets: true } });
  if (!app || app.blockedAt) return undefined;
  const secrets = app.secrets
    .map((secret) => ({ hash: secret.secretHash, expiresAt: secret.expiresAt?.getTime() ?? null }))
    .filter(isLiveSecret);
  const extension: ClientExtension = {
    appId: app.id,
    isPkceRequired: app.isPkceRequired,
    isRefreshAlways: app.isRefreshAllowed,
    accessTokenSeconds: app.accessTokenSeconds,
    secrets,
  };
  return {
    client_id: app.clientId,
    client_name: app.name,
    application_type: "native",
    redirect_uris: app.redirectUris,
    post_logout_redirect_uris: app.postLogoutRedirectUris,
    response_types: app.redirectUris.length > 0 ? ["code"] : [],
    grant_types: app.redirectUris.length > 0 ? ["authorization_code", "refresh_token"] : ["refresh_token"],
    scope: [...app.scopes, OFFLINE_ACCESS].join(" "),
    id_token_signed_response_alg: app.idTokenAlg as "RS256" | "ES256",
    // An app whose last secret was deleted works as a public app (brief §2.1).
    ...(secrets.length > 0
      ? { token_endpoint_auth_method: "client_secret_basic", client_secret: SECRET_IS_HASHED }
      : { token_endpoint_auth_method: "none" }),
    [CLIENT_EXTENSION]: extension,
  };
}

type StoredSecret = ClientExtension["secrets"][number];

const isLiveSecret = ({ expiresAt }: StoredSecret): boolean => expiresAt === null || expiresAt > Date.now();

/** Whether `presented` is one of the live secrets. Every one is compared, so that time tells nothing (S41). */
export function isClientSecret(secrets: readonly StoredSecret[], presented: string): boolean {
  const hash = hashToken(presented);
  let isMatch = false;
  for (const secret of secrets) {
    if (isEqualInConstantTime(secret.hash, hash) && isLiveSecret(secret)) isMatch = true;
  }
  return isMatch;
}

export function clientExtension(client: object): ClientExtension {
  return (client as Record<string, ClientExtension>)[CLIENT_EXTENSION] as ClientExtension;
}
