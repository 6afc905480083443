import { performance } from "node:perf_hooks";
import { expect, it } from "vitest";
import { LogShare } from "./log-share.ts";

const PIECES = 60;

/**
 * @returns the time that each party used. The number of pieces would say less, because a piece takes longer on a busy machine.
 */
async function print(tasksOf: readonly number[]): Promise<number[]> {
  let left = PIECES;
  const times = tasksOf.map(async (tasks, at) => {
    const pieces = Array.from({ length: tasks }, async () => {
      const share = new LogShare(`party ${at} of ${tasksOf.length}`);
      let ms = 0;
      for (; left > 0; left--) ms += await share.take(busy);
      return ms;
    });
    return (await Promise.all(pieces)).reduce((sum, ms) => sum + ms, 0);
  });
  return Promise.all(times);
}

function busy(): number {
  const begin = performance.now();
  while (performance.now() < begin + 1);
  return performance.now() - begin;
}

it("S132 a task waits only for tasks of its own party", async () => {
  const [many = 0, one = 0] = await print([8, 1]);
  expect(many).toBeLessThan(3 * one);
  expect(one).toBeLessThan(3 * many);
});

it("S132 the event loop has time for other work, even if many parties print", async () => {
  const before = performance.eventLoopUtilization();
  await print(Array.from({ length: 30 }, () => 2));
  expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.8);
});
