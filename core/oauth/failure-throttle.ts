import type { ServerResponse } from "node:http";
import { ProtocolError } from "./protocol-request.ts";

/**
 * A brake on guessing at the protocol endpoints (S56): failures are counted by address and client within this process, and
 * past the limit that pair is told to wait. Requests that succeed never count, so that a busy client is never slowed down.
 */
const WINDOW_MS = 60_000;
const FAILURES_PER_WINDOW = 60;
const ENTRIES_MAX = 50_000;

const failures = new Map<string, { count: number; resetAt: number }>();
const keys = new WeakMap<ServerResponse, string>();

/** Refuses the request when this address has failed too often with this client; otherwise its failure will be counted. */
export function guardAgainstGuessing(res: ServerResponse, address: string, clientId: string): void {
  const key = `${address} ${clientId.slice(0, 200)}`;
  keys.set(res, key);
  const entry = failures.get(key);
  if (!entry || entry.resetAt <= Date.now() || entry.count < FAILURES_PER_WINDOW) return;
  const seconds = Math.ceil((entry.resetAt - Date.now()) / 1000);
  throw new ProtocolError(429, "temporarily_unavailable", `too many failed requests; try again in ${seconds} seconds`, {
    "Retry-After": String(seconds),
  });
}

/** Counts the answer as a failed guess: a wrong secret, an unknown code or token. */
export function countFailure(res: ServerResponse): void {
  const key = keys.get(res);
  if (key === undefined) return;
  const now = Date.now();
  const entry = failures.get(key);
  if (entry && entry.resetAt > now) {
    entry.count += 1;
    return;
  }
  if (failures.size >= ENTRIES_MAX) forgetOld(now);
  failures.set(key, { count: 1, resetAt: now + WINDOW_MS });
}

function forgetOld(now: number): void {
  for (const [key, entry] of failures) if (entry.resetAt <= now) failures.delete(key);
  // Still full: a flood from many addresses. Forgetting all of it is fairer than growing without bound.
  if (failures.size >= ENTRIES_MAX) failures.clear();
}
