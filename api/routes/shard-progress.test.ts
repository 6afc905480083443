import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type ProgressLine, progressOf } from "./shard-progress.ts";

const describe = async (thrown: Error): Promise<ProgressLine> => ({ type: "error", message: thrown.message, retryable: false });

async function linesOf(end: () => void): Promise<ProgressLine[]> {
  const work = Promise.withResolvers<void>();
  const lines: ProgressLine[] = [];
  for await (const line of progressOf(
    work.promise.then(() => end()),
    describe,
    1,
  )) {
    lines.push(line);
    if (lines.length === 2) work.resolve();
    await delay(1);
  }
  return lines;
}

test("a longer check reports progress repeatedly, and then its result", async () => {
  const checking = { type: "validating", verified: 0, total: 1 };
  const done = await linesOf(() => undefined);
  expect(done.slice(0, 2)).toEqual([checking, checking]);
  expect(done.at(-1)).toEqual({ type: "result" });
  const failed = await linesOf(() => {
    throw new Error("wrong");
  });
  expect(failed.at(-1)).toEqual({ type: "error", message: "wrong", retryable: false });
});

test("a failure before the first line is thrown, so that it gets a status", async () => {
  await expect(progressOf(Promise.reject(new Error("wrong")), describe).next()).rejects.toThrow("wrong");
});
