import type { AllClientMetadata } from "oidc-provider";
import { hashToken, isEqualInConstantTime } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { isListening, listen } from "#core/notifications.ts";
import { APP_CHANGE_CHANNEL } from "./apps/notify-app-change.ts";
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
  secrets: StoredSecret[];
};

type StoredSecret = { id: string; hash: string; expiresAt: number | null };

/** The metadata key under which the extension travels. */
export const CLIENT_EXTENSION = "keyhook";

const CACHE_SIZE = 1_000;
// A connection that died without telling looks like one on which nothing happens.
const TRUST_MS = 30_000;
// The engine wants some secret for a client that authenticates with one; ours are hashed and compared by findClientSecret.
const SECRET_IS_HASHED = "hashed";

type Cache = {
  clients: Map<string, { metadata: AllClientMetadata; readAt: number }>;
  /** Counts notifications: what was read before one arrived may be older than what it told of. */
  notified: number;
  isWatched: boolean;
};
const keeper = globalThis as typeof globalThis & { keyhookClients?: Cache };

function cache(): Cache {
  keeper.keyhookClients ??= { clients: new Map(), notified: 0, isWatched: false };
  return keeper.keyhookClients;
}

function watch(): void {
  const kept = cache();
  if (kept.isWatched) return;
  kept.isWatched = true;
  void listen(APP_CHANGE_CHANNEL, (clientId) => {
    kept.notified += 1;
    if (clientId) kept.clients.delete(clientId);
    else kept.clients.clear();
  });
}

/** The engine's metadata for a client id; undefined for an unknown or blocked one. */
export async function findClientMetadata(clientId: string): Promise<AllClientMetadata | undefined> {
  const kept = cache();
  watch();
  const known = kept.clients.get(clientId);
  if (known && isListening() && Date.now() - known.readAt < TRUST_MS) return known.metadata;

  const [readAt, { notified }] = [Date.now(), kept];
  const metadata = clientId.includes("\0") ? undefined : await loadClient(clientId);
  // Unknown ids are not kept: anybody can make them up.
  if (metadata && isListening() && kept.notified === notified) {
    if (kept.clients.size >= CACHE_SIZE) kept.clients.clear();
    kept.clients.set(clientId, { metadata, readAt });
  }
  return metadata;
}

async function loadClient(clientId: string): Promise<AllClientMetadata | undefined> {
  const app = await db().oAuthApp.findUnique({ where: { clientId }, include: { secrets: true } });
  if (!app || app.blockedAt) return undefined;
  const secrets = app.secrets
    .map((secret) => ({ id: secret.id, hash: secret.secretHash, expiresAt: secret.expiresAt?.getTime() ?? null }))
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
    // A new picture has a new address, by which people are asked again (S36).
    ...(app.logoId && { logo_uri: `${env().ORIGIN}/images/${app.logoId}` }),
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

const isLiveSecret = ({ expiresAt }: StoredSecret): boolean => expiresAt === null || expiresAt > Date.now();

/** The live secret that `presented` is. Every one is compared, so that time tells nothing (S41). */
export function findClientSecret(secrets: readonly StoredSecret[], presented: string): StoredSecret | undefined {
  const hash = hashToken(presented);
  let match: StoredSecret | undefined;
  for (const secret of secrets) {
    if (isEqualInConstantTime(secret.hash, hash) && isLiveSecret(secret)) match = secret;
  }
  return match;
}

export function clientExtension(client: object): ClientExtension {
  return (client as Record<string, ClientExtension>)[CLIENT_EXTENSION] as ClientExtension;
}
