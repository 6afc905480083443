/** The average rate at which a client must send or read; a modem of 1998 is four times as fast. */
const BYTES_PER_SECOND = 1024;
const CHECK_EVERY_MS = 1_000;
/** The rate required to keep a slot that others wait for, and how long a slower client is tolerated. */
const WANTED_BYTES_PER_SECOND = 64 * 1024;
const WANTED_GRACE_MS = 10_000;

export type Watched = {
  /** How many bytes have passed so far. */
  bytes: () => number;
  /** Whether we are waiting for the client now, rather than the client for us. */
  isWaiting: () => boolean;
  /** How long a client may send or read nothing at all. */
  graceMs: number;
  onTooSlow: () => void;
  bytesPerSecond?: number;
  checkEveryMs?: number;
  /** Whether others wait for the slot that this transfer holds (core/fair-queue): then the client must transfer 64 KiB a second. */
  yields?: (() => boolean) | undefined;
  wantedGraceMs?: number;
};

/**
 * Calls `onTooSlow` when a client takes too long over a transfer: a client that sends a byte now and then would keep a slot from others for
 * hours (S137). Each byte earns the client time, up to the initial grace, and our waiting for it uses that time up. So a client may pause
 * for as long as the grace, at any time, and must transfer 1 KiB a second on average. Time in which it waits for us does not count.
 * @returns a function that stops watching
 */
export function watchPace({
  bytes,
  isWaiting,
  graceMs,
  onTooSlow,
  bytesPerSecond = BYTES_PER_SECOND,
  checkEveryMs = CHECK_EVERY_MS,
  yields,
  wantedGraceMs = WANTED_GRACE_MS,
}: Watched): () => void {
  let leftMs = graceMs;
  let wantedLeftMs = wantedGraceMs;
  let [passed, checkedAt] = [bytes(), performance.now()];
  const timer = setInterval(() => {
    const [now, at] = [bytes(), performance.now()];
    leftMs = Math.min(graceMs, leftMs + ((now - passed) / bytesPerSecond) * 1_000);
    wantedLeftMs = Math.min(wantedGraceMs, wantedLeftMs + ((now - passed) / WANTED_BYTES_PER_SECOND) * 1_000);
    if (isWaiting()) {
      leftMs -= at - checkedAt;
      wantedLeftMs = Math.max(0, wantedLeftMs - (at - checkedAt));
    }
    [passed, checkedAt] = [now, at];
    if (leftMs >= 0 && !(wantedLeftMs <= 0 && yields?.())) return;
    clearInterval(timer);
    onTooSlow();
  }, checkEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
