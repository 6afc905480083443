/** What a client has to send or to read, on average; a telephone line of 1998 does four times as much. */
const BYTES_PER_SECOND = 1024;
const CHECK_EVERY_MS = 1_000;
/** What keeps a place that somebody else waits for, and how long less will do. */
const WANTED_BYTES_PER_SECOND = 64 * 1024;
const WANTED_GRACE_MS = 10_000;

export type Watched = {
  /** How many bytes have passed so far. */
  bytes: () => number;
  /** Whether we wait for the client at this moment, and not the client for us. */
  isWaiting: () => boolean;
  /** How long we wait for nothing at all. */
  graceMs: number;
  onTooSlow: () => void;
  bytesPerSecond?: number;
  checkEveryMs?: number;
  /** Whether somebody else waits for the place that is held meanwhile (core/fair-queue): then a client has to keep 64 KiB a second. */
  yields?: (() => boolean) | undefined;
  wantedGraceMs?: number;
};

/**
 * Tells when a client takes too long over a transfer: somebody who sends a byte now and then would keep a place from others for hours
 * (S137). Each byte earns a client time, up to the grace that it begins with, and the time that we wait for it uses it up. So a
 * client may pause for as long as the grace, also in the middle, and has to keep 1 KiB a second on average. Time in which git is the
 * slow one does not count.
 * @returns stops watching
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
