import { afterEach, expect, test, vi } from "vitest";
import { formatDuration, Progress } from "./progress.ts";

afterEach(() => vi.useRealTimers());

function terminal(columns = 60) {
  const lines: string[] = [""];
  const write = (text: string) => {
    const up = text.startsWith("\x1b[") ? Number.parseInt(text.slice(2), 10) : 0;
    if (up) lines.splice(lines.length - 1 - up, up + 1, "");
    const [first = "", ...more] = (up ? "" : text).split("\n");
    lines.splice(-1, 1, (lines.at(-1) ?? "") + first, ...more);
    return true;
  };
  return { out: { write, columns } as unknown as NodeJS.WriteStream, shown: () => lines.filter((line) => line !== "") };
}

test("each running step has one line with its progress and time, below the lines of finished steps", () => {
  vi.useFakeTimers();
  const { out, shown } = terminal();
  const progress = new Progress(out);
  const units = progress.begin("unit tests", 3);
  const stories = progress.begin("stories");
  units.onLine(" ✓ database core/a.test.ts (3 tests) 12ms");
  units.onLine("\x1b[31m ❯ database core/b.test.ts (3 tests | 1 failed)\x1b[39m");
  units.onLine("   × of a file, which is not counted");
  stories.onLine("Running 12 tests using 2 workers");
  stories.onLine("  ✓   1 e2e/a.spec.ts:3:1 › signs in (1.2s)");
  vi.advanceTimersByTime(61_000);
  expect(shown()).toEqual(["…  unit tests  2 of 3, 1 failed  1 min 1 s", "…  stories  1 of 12  1 min 1 s"]);
  progress.end("unit tests", "✗", "8 passed, 1 failed", "FAIL core/b.test.ts");
  expect(shown()).toEqual([
    "✗  unit tests  8 passed, 1 failed  1 min 1 s",
    "FAIL core/b.test.ts",
    "…  stories  1 of 12  1 min 1 s",
  ]);
  progress.end("stories", "✓", "12 passed");
  progress.close();
  expect(shown().at(-1)).toBe("✓  stories  12 passed  1 min 1 s");
});

test("a line never wraps, and a failed step shows the report of failures from its output", () => {
  const { out, shown } = terminal(20);
  const progress = new Progress(out);
  const step = progress.begin("a step with a long title");
  for (const line of [" ✓ a.test.ts", "⎯⎯ Failed Tests 1 ⎯⎯", "expected 1 to be 2"]) step.onLine(line);
  expect(shown()).toEqual(["…  a step with a lon"]);
  progress.close();
  expect(shown()).toEqual([]);
  expect(step.failure()).toBe("⎯⎯ Failed Tests 1 ⎯⎯\nexpected 1 to be 2");
});

test("a duration is formatted in seconds and minutes", () => {
  expect([400, 59_400, 60_000, 754_000].map(formatDuration)).toEqual(["0 s", "59 s", "1 min 0 s", "12 min 34 s"]);
});
