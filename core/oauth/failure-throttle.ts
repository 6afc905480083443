import type { ServerResponse } from "node:http";
import { addressKey } from "#core/accounts/address-key.ts";
import { waitInWords } from "#core/counted.ts";
import { ProtocolError } from "./protocol-request.ts";

/** An attacker may try many clients from one address (S56). Successful requests never count. */
const WINDOW_MS = 60_000;
export const FAILURES_OF_CLIENT = 60;
export const FAILURES_OF_ADDRESS = 600;
/** A provider may give a whole /48 to one customer. */
export const FAILURES_OF_CUSTOMER = 10 * FAILURES_OF_ADDRESS;
export const ENTRIES_MAX = 50_000;

type Entry = { count: number; resetAt: number };
const failures = new Map<string, Entry>();
const keys = new WeakMap<ServerResponse, string[]>();
/** Addresses with a client that has succeeded there, the oldest first. */
const known = new Set<string>();

/**
 * Refuses the request if its address has failed too often. If the client has succeeded at this address before, only its own
 * failures count, because sites of different owners may share an address.
 */
export function guardAgainstGuessing(res: ServerResponse, address: string, clientId: string): void {
  const [network, customer] = [addressKey(address) ?? address, addressKey(address, 48) ?? address];
  const client = `${network} ${clientId.slice(0, 200)}`;
  const limits = new Map([
    [customer, FAILURES_OF_CUSTOMER],
    // For IPv4 both keys are equal, and this lower limit applies.
    [network, FAILURES_OF_ADDRESS],
    [client, FAILURES_OF_CLIENT],
  ]);
  keys.set(res, [...limits.keys()]);
  const waitMs = Math.max(...[...limits].map(([key, limit]) => (key === client || !known.has(client) ? waitOf(key, limit) : 0)));
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  throw new ProtocolError(429, "temporarily_unavailable", `too many failed requests; try again in ${waitInWords(seconds)}`, {
    "Retry-After": String(seconds),
  });
}

function waitOf(key: string, limit: number): number {
  const entry = failures.get(key);
  return entry && entry.count >= limit ? entry.resetAt - Date.now() : 0;
}

export function countFailure(res: ServerResponse): void {
  for (const key of keys.get(res) ?? []) countOne(key, Date.now());
}

export function rememberSuccess(res: ServerResponse): void {
  const client = keys.get(res)?.at(-1);
  if (client === undefined) return;
  known.delete(client);
  known.add(client);
  if (known.size > ENTRIES_MAX) known.delete(known.values().next().value as string);
}

export const hasSucceeded = (res: ServerResponse): boolean => known.has(keys.get(res)?.at(-1) ?? "");

function countOne(key: string, now: number): void {
  const entry = failures.get(key);
  if (entry && entry.resetAt > now) {
    entry.count += 1;
    return;
  }
  failures.delete(key);
  failures.set(key, { count: 1, resetAt: now + WINDOW_MS });
  for (const [oldest, { resetAt }] of failures) {
    if (resetAt > now && failures.size <= ENTRIES_MAX) break;
    failures.delete(oldest);
  }
}
