import { afterEach, expect, test, vi } from "vitest";
import { estimateCompletion } from "../metering/token-count.ts";
import { AnswerCounter } from "./pass-on-events.ts";

afterEach(() => void vi.useRealTimers());

test("S137 a stream that its client leaves counts its text, plus 100 tokens for each second without text or report", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const text = (content: string) => ({ choices: [{ delta: { content } }], usage: null });
  const report = (completion_tokens: number) => ({ choices: [], usage: { prompt_tokens: 1, completion_tokens } });
  const after = (...events: (number | Record<string, unknown>)[]) => {
    const counter = new AnswerCounter(0, estimateCompletion({}));
    for (const event of events) {
      if (typeof event === "number") vi.advanceTimersByTime(event * 1_000);
      else counter.take(event);
    }
    counter.abandon();
    return counter.result();
  };
  expect(after()).toEqual({ prompt: 0, completion: 100, isEstimated: true });
  const slowStream = Array.from({ length: 200 }, () => [0.1, text("tide")]).flat();
  expect(after(...slowStream).completion).toBe(300);
  expect(after(...Array.from({ length: 50 }, () => text("潮"))).completion).toBe(150);
  expect(after(text("潮汐表".repeat(100))).completion).toBe(100 + 225);
  expect(after(text("tide"), 20, { choices: [{ delta: {} }] }, text("tide"), 10).completion).toBe(100 + 2 + 3_000);
  expect(after(9, report(1), text("tide"), 5)).toEqual({ prompt: 1, completion: 1 + 1 + 500, isEstimated: true });
  expect(after(9, text("tide"), report(7))).toEqual({ prompt: 1, completion: 7, isEstimated: false });
});
