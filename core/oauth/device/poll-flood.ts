import { idHash } from "../artifact-store.ts";
import { DEVICE_CODE_GRANT } from "../client-of-app.ts";
import { ProtocolError } from "../protocol-request.ts";

/**
 * Slows down a device that polls in a loop and ignores `slow_down`: after this many too early polls within the window, this process
 * responds without the database. It still asks the database once a second, so that the answer is delivered (S61).
 */
export const TOO_FAST_POLLS = 20;
const WINDOW_MS = 10_000;
const LOOK_MS = 1_000;
const ENTRIES_MAX = 10_000;

type Entry = { count: number; resetAt: number; lookAt: number };
const floods = new Map<string, Entry>();

/** Counts a poll that came too early. */
export function countTooFastPoll(deviceCode: string): void {
  const now = Date.now();
  const key = idHash(deviceCode);
  const entry = floods.get(key);
  if (entry && entry.resetAt > now) {
    entry.count += 1;
    return;
  }
  if (floods.size >= ENTRIES_MAX) floods.clear();
  floods.set(key, { count: 1, resetAt: now + WINDOW_MS, lookAt: 0 });
}

/** @throws ProtocolError `slow_down` for a poll that is part of a flood. */
export function refusePollFlood(form: URLSearchParams): void {
  const deviceCode = form.get("device_code");
  if (floods.size === 0 || !deviceCode || form.get("grant_type") !== DEVICE_CODE_GRANT) return;
  const now = Date.now();
  const entry = floods.get(idHash(deviceCode));
  if (!entry || entry.count < TOO_FAST_POLLS || entry.resetAt <= now) return;
  if (entry.lookAt > now) throw new ProtocolError(400, "slow_down", "polled too fast, and much too often");
  entry.lookAt = now + LOOK_MS;
}
