import { expect, test } from "vitest";
import { afterSecondTry, tallyOf } from "./tally.ts";

test.each([
  { status: 0, counted: { passed: 3, failed: 0 }, tally: { passed: 3, failed: 0 } },
  { status: 1, counted: { passed: 3, failed: 2 }, tally: { passed: 3, failed: 2 } },
  { status: 1, counted: { passed: 3, failed: 0 }, tally: { passed: 3, failed: 1 } }, // a suite that did not load
  { status: 1, counted: undefined, tally: { passed: 0, failed: 1 } }, // a tool that did not start
  { status: 0, counted: { passed: 0, failed: 0 }, tally: { passed: 0, failed: 1 } }, // nothing was tested
])("status $status and $counted count as $tally", ({ status, counted, tally }) => {
  expect(tallyOf(status, counted)).toEqual(tally);
});

test.each([
  { first: { passed: 90, failed: 2 }, again: { passed: 12, failed: 0 }, tally: { passed: 92, failed: 0 } },
  { first: { passed: 90, failed: 2 }, again: { passed: 11, failed: 1 }, tally: { passed: 91, failed: 1 } },
  { first: { passed: 90, failed: 1 }, again: { passed: 0, failed: 1 }, tally: { passed: 90, failed: 1 } }, // does not load, still
])("$first, then $again of the failed files, count as $tally", ({ first, again, tally }) => {
  expect(afterSecondTry(first, again)).toEqual(tally);
});
