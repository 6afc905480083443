import { addressKey } from "#core/accounts/address-key.ts";
import { waitInWords } from "#core/counted.ts";
import { DocumentError } from "./document-error.ts";

/**
 * Anybody can send any URL as a client ID (S80). A flood of URLs must not stop apps whose documents are stored. Each process
 * counts for itself.
 */
const WINDOW_MS = 60_000;
export const LIMITS = {
  ofAddress: 30,
  /** The limit for one /48, which one customer may have. At most half of `ofUnknown`. */
  ofCustomer: 60,
  ofUnknown: 120,
  ofUnknownOnHost: 20,
  ofKnownDocument: 20,
} as const;
export const CONCURRENCY = { unknown: 20, unknownOnHost: 4, unused: 20, used: 40, knownOnHost: 4 } as const;
const KEYS_MAX = 20_000;

/** `used`: some user has a consent for the document's app. `unused`: only stored. */
type DocumentUse = "unknown" | "unused" | "used";
type Asked = { clientId: string; hostname: string; use: DocumentUse; address: string | null };

const windows = new Map<string, number[]>();
const running = new Map<string, number>();

/** @throws DocumentError `busy` with the seconds to wait */
export async function withinFetchLimits<T>({ clientId, hostname, use, address }: Asked, fetch: () => Promise<T>): Promise<T> {
  const now = Date.now();
  const [network, customer] = [addressKey(address), addressKey(address, 48)];
  const own: [string, number][] = network
    ? [
        [`address ${network}`, LIMITS.ofAddress],
        [`customer ${customer}`, LIMITS.ofCustomer],
      ]
    : [];
  const [host, document] = [`host ${hostname}`, `document ${clientId}`];
  const isKnown = use !== "unknown";
  const counted: [string, number][] = isKnown
    ? [[document, LIMITS.ofKnownDocument]]
    : [
        ["unknown", LIMITS.ofUnknown],
        [host, LIMITS.ofUnknownOnHost],
      ];
  const parallel: [string, number][] = [
    [use, CONCURRENCY[use]],
    // One slow host with many documents must not occupy all slots.
    [`${use} on ${hostname}`, isKnown ? CONCURRENCY.knownOnHost : CONCURRENCY.unknownOnHost],
  ];
  for (const [key, limit] of own) refuseOver(key, limit, now, true);
  for (const [key, limit] of counted) refuseOver(key, limit, now, false);
  if (parallel.some(([key, limit]) => (running.get(key) ?? 0) >= limit)) throw busy(2, false);

  for (const [key] of [...own, ...counted]) count(key, now);
  for (const [key] of parallel) running.set(key, (running.get(key) ?? 0) + 1);
  try {
    return await fetch();
  } finally {
    for (const [key] of parallel) {
      const left = (running.get(key) ?? 1) - 1;
      if (left > 0) running.set(key, left);
      else running.delete(key);
    }
  }
}

function refuseOver(key: string, limit: number, now: number, isOwnFault: boolean): void {
  const times = (windows.get(key) ?? []).filter((time) => time > now - WINDOW_MS);
  if (times.length < limit) return;
  const oldest = times.at(-limit) ?? now;
  throw busy(Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1000)), isOwnFault);
}

function count(key: string, now: number): void {
  const times = (windows.get(key) ?? []).filter((time) => time > now - WINDOW_MS);
  times.push(now);
  // Above the maximum, the counters that were idle longest are dropped.
  windows.delete(key);
  windows.set(key, times);
  for (const [quiet, itsTimes] of windows) {
    if (windows.size <= KEYS_MAX && (itsTimes.at(-1) ?? 0) > now - WINDOW_MS) break;
    windows.delete(quiet);
  }
}

function busy(retryAfterSeconds: number, isOwnFault: boolean): DocumentError {
  const sentence = `Too many documents are being fetched. Try again in ${waitInWords(retryAfterSeconds)}.`;
  return new DocumentError("busy", sentence, { retryAfterSeconds, isOwnFault });
}

export function forgetFetches(): void {
  windows.clear();
}
