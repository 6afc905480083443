import { expect, test } from "vitest";
import { formatDuration, relativeTime } from "./relative-time.tsx";

const now = new Date("2026-11-21T12:00:00Z");
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

test.each([
  [-59 * SECOND, "just now"],
  [59 * SECOND, "in a moment"],
  [-60 * SECOND, "1 minute ago"],
  [-119 * SECOND, "1 minute ago"],
  [-59 * 60 * SECOND, "59 minutes ago"],
  [-HOUR, "1 hour ago"],
  [-24 * HOUR, "yesterday"],
  [24 * HOUR, "tomorrow"],
  [7 * 24 * HOUR, "in 7 days"],
  [7 * 24 * HOUR - SECOND, "in 7 days"],
  [-7 * 24 * HOUR + SECOND, "6 days ago"],
  [-29 * 24 * HOUR, "29 days ago"],
  [-30 * 24 * HOUR, "Oct 22, 2026"],
])("%d ms from now is %s", (offset, text) => {
  expect(relativeTime(new Date(now.getTime() + offset), now)).toBe(text);
});

test.each([
  [28_800, "8 hours"],
  [3_600, "1 hour"],
  [5_400, "90 minutes"],
  [86_400, "1 day"],
  [30 * 86_400, "30 days"],
  [61, "61 seconds"],
])("%i seconds are %s", (seconds, words) => {
  expect(formatDuration(seconds)).toBe(words);
});
