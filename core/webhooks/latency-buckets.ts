/**
 * Buckets for the durations of answered attempts (`webhook_hour.latencies`), each a quarter longer than the one before, from 1 ms to beyond
 * the 15 seconds that an attempt may take. So a percentile of 10 ms or more that is read from them is off by an eighth at most.
 */
const GROWTH = 1.25;
export const LATENCY_BUCKETS = 46;

/** The bucket (from 0) for a duration in milliseconds. */
export function latencyBucket(ms: number): number {
  if (ms <= 1) return 0;
  return Math.min(LATENCY_BUCKETS - 1, Math.ceil(Math.log(ms) / Math.log(GROWTH)));
}

/** The duration in milliseconds below which a share (0 to 1) of the counted attempts stayed; null if none were counted. */
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
