import { expect, it } from "vitest";
import { LATENCY_BUCKETS, latencyBucket, latencyPercentile } from "./latency-buckets.ts";

it("percentiles from buckets are within an eighth of the durations that were counted, from 10 ms on", () => {
  for (const ms of [2, 7, 38, 230, 1_900, 14_999]) {
    const counts = new Array<number>(LATENCY_BUCKETS).fill(0);
    counts[latencyBucket(ms)] = 10;
    const read = latencyPercentile(counts, 0.5) ?? 0;
    expect(Math.abs(read - ms) / ms, `${ms} ms was read as ${read}`).toBeLessThanOrEqual(ms < 10 ? 0.5 : 0.126);
  }
  expect([0, 1, 60_000, Number.MAX_SAFE_INTEGER].map(latencyBucket)).toEqual([0, 0, LATENCY_BUCKETS - 1, LATENCY_BUCKETS - 1]);
});

it("a share of the attempts is below its percentile", () => {
  const counts = new Array<number>(LATENCY_BUCKETS).fill(0);
  for (let ms = 1; ms <= 1_000; ms++) counts[latencyBucket(ms)] = (counts[latencyBucket(ms)] ?? 0) + 1;
  expect(latencyPercentile(counts, 0.5)).toBeGreaterThan(430);
  expect(latencyPercentile(counts, 0.5)).toBeLessThan(570);
  expect(latencyPercentile([], 0.5)).toBeNull();
});
