import type { AllClientMetadata } from "oidc-provider";
import { db } from "#core/db.ts";
import { isListening, listen } from "#core/notifications.ts";
import { APP_CHANGE_CHANNEL } from "../apps/change-app.ts";
import { isDocumentAddress } from "../documents/document-address.ts";
import { findDocumentClient } from "../documents/find-document-client.ts";
import { clientOfApp } from "./client-of-app.ts";

/**
 * Turns an OAuth app (the product record) into a client (the protocol party). This process caches client records until Postgres notifies it
 * that the app changed. While notifications are unavailable nothing is cached, so a deleted secret or a removed redirect URI never stays
 * valid for longer (S52).
 */

const CACHE_SIZE = 1_000;
// A connection that died silently looks like an idle one.
const TRUST_MS = 30_000;
type Cache = {
  clients: Map<string, { metadata: AllClientMetadata; readAt: number }>;
  /** Counts notifications: a record that was read before one arrived may be older than the change. */
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
    if (clientId) return forgetClient(clientId);
    kept.notified += 1;
    kept.clients.clear();
  });
}

/** Drops the cached record of a client that this process just changed: the notification may arrive only after the current request. */
export function forgetClient(clientId: string): void {
  const kept = cache();
  kept.notified += 1;
  kept.clients.delete(clientId);
}

/** The engine's metadata for a client ID; undefined for an unknown or blocked one. */
export async function findClientMetadata(clientId: string): Promise<AllClientMetadata | undefined> {
  const kept = cache();
  watch();
  const known = kept.clients.get(clientId);
  if (known && isListening() && Date.now() - known.readAt < TRUST_MS) return known.metadata;

  const [readAt, { notified }] = [Date.now(), kept];
  const metadata = clientId.includes("\0") ? undefined : await loadClient(clientId);
  // Unknown IDs are not cached: anyone can invent them.
  if (metadata && isListening() && kept.notified === notified) {
    if (kept.clients.size >= CACHE_SIZE) kept.clients.clear();
    kept.clients.set(clientId, { metadata, readAt });
  }
  return metadata;
}

async function loadClient(clientId: string): Promise<AllClientMetadata | undefined> {
  if (isDocumentAddress(clientId)) return findDocumentClient(clientId);
  const app = await db().oAuthApp.findUnique({ where: { clientId }, include: { secrets: true } });
  return app && !app.blockedAt ? clientOfApp(app) : undefined;
}
