const BYTES_PER_SECOND = 1024;
const CHECK_EVERY_MS = 1_000;
const CONTENDED_BYTES_PER_SECOND = 64 * 1024;
const CONTENDED_GRACE_MS = 10_000;

export type Watched = {
  bytes: () => number;
  /** Whether the service waits for the client, and not the client for the service. */
  isWaiting: () => boolean;
  graceMs: number;
  onTooSlow: () => void;
  bytesPerSecond?: number;
  checkEveryMs?: number;
  mustYield?: (() => boolean) | undefined;
  contendedGraceMs?: number;
};

/**
 * Without this, a client that sends a byte now and then would keep a slot for hours (S137).
 * @returns a function that stops watching
 */
export function watchPace({
  bytes,
  isWaiting,
  graceMs,
  onTooSlow,
  bytesPerSecond = BYTES_PER_SECOND,
  checkEveryMs = CHECK_EVERY_MS,
  mustYield,
  contendedGraceMs = CONTENDED_GRACE_MS,
}: Watched): () => void {
  let leftMs = graceMs;
  let contendedLeftMs = contendedGraceMs;
  let [passed, checkedAt] = [bytes(), performance.now()];
  const timer = setInterval(() => {
    const [now, at] = [bytes(), performance.now()];
    leftMs = Math.min(graceMs, leftMs + ((now - passed) / bytesPerSecond) * 1_000);
    contendedLeftMs = Math.min(contendedGraceMs, contendedLeftMs + ((now - passed) / CONTENDED_BYTES_PER_SECOND) * 1_000);
    if (isWaiting()) {
      leftMs -= at - checkedAt;
      contendedLeftMs = Math.max(0, contendedLeftMs - (at - checkedAt));
    }
    [passed, checkedAt] = [now, at];
    if (leftMs >= 0 && !(contendedLeftMs <= 0 && mustYield?.())) return;
    clearInterval(timer);
    onTooSlow();
  }, checkEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
