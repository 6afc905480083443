import { performance } from "node:perf_hooks";
import { expect, it } from "vitest";
import { LogShare } from "./log-share.ts";

const PIECES = 60;

async function print(tasksOf: readonly number[]): Promise<number[]> {
  let left = PIECES;
  const counts = tasksOf.map(async (tasks, at) => {
    const pieces = Array.from({ length: tasks }, async () => {
      const share = new LogShare(`party ${at} of ${tasksOf.length}`);
      let count = 0;
      for (; left > 0; count++, left--) await share.take(busy);
      return count;
    });
    return (await Promise.all(pieces)).reduce((sum, count) => sum + count, 0);
  });
  return Promise.all(counts);
}

function busy(): void {
  for (const end = performance.now() + 1; performance.now() < end; );
}

it("S132 the tasks of one party wait for each other, and not for other parties' tasks", async () => {
  const [many = 0, one = 0] = await print([8, 1]);
  expect(many).toBeLessThan(3 * one);
  expect(one).toBeLessThan(3 * many);
});

it("S132 however many parties print, the event loop has time for other things", async () => {
  const before = performance.eventLoopUtilization();
  await print(Array.from({ length: 30 }, () => 2));
  expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.8);
});
