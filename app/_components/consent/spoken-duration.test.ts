import { expect, test } from "vitest";
import { spokenDuration } from "./spoken-duration.ts";

test.each([
  [28_800, "8 hours"],
  [3_600, "1 hour"],
  [5_400, "90 minutes"],
  [86_400, "1 day"],
  [30 * 86_400, "30 days"],
  [61, "61 seconds"],
])("%i seconds are %s", (seconds, words) => {
  expect(spokenDuration(seconds)).toBe(words);
});
