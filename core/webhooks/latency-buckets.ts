/** Each bucket is a quarter longer than the one before, from 1 ms to beyond 15 seconds. */
const GROWTH = 1.25;
export const LATENCY_BUCKETS = 46;

export function latencyBucket(ms: number): number {
  if (ms <= 1) return 0;
  return Math.min(LATENCY_BUCKETS - 1, Math.ceil(Math.log(ms) / Math.log(GROWTH)));
}

/**
 * @param share from 0 to 1
 * @returns milliseconds, or null if nothing was counted
 */
export function latencyPercentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [bucket, count] of counts.entries()) {
    seen += count;
    if (seen >= share * total) return Math.round(GROWTH ** Math.max(0, bucket - 0.5));
  }
  return Math.round(GROWTH ** (counts.length - 1));
}
