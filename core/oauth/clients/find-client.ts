import type { AllClientMetadata } from "oidc-provider";
import { db } from "#core/db.ts";
import { isListening, listen } from "#core/notifications.ts";
import { APP_CHANGE_CHANNEL } from "../apps/change-app.ts";
import { isDocumentAddress } from "../documents/document-address.ts";
import { findDocumentClient } from "../documents/find-document-client.ts";
import { clientOfApp } from "./client-of-app.ts";

/** Caches nothing while notifications cannot arrive, so that a deleted secret never stays valid (S52). */

const CACHE_SIZE = 1_000;
// An entry is trusted only this long: a connection that died silently looks idle.
const TRUST_MS = 30_000;
type Cache = {
  clients: Map<string, { metadata: AllClientMetadata; readAt: number }>;
  /** The number of notifications. A record that was read before the last one may be outdated. */
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

/** Call this after a change: its notification may arrive only after the current request. */
export function forgetClient(clientId: string): void {
  const kept = cache();
  kept.notified += 1;
  kept.clients.delete(clientId);
}

export async function findClientMetadata(clientId: string): Promise<AllClientMetadata | undefined> {
  const kept = cache();
  watch();
  const known = kept.clients.get(clientId);
  if (known && isListening() && Date.now() - known.readAt < TRUST_MS) return known.metadata;

  const [readAt, { notified }] = [Date.now(), kept];
  const metadata = clientId.includes("\0") ? undefined : await loadClient(clientId);
  // Unknown IDs are not cached, because anybody can invent any number.
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
