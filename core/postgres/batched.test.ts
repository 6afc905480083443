import { describe, expect, test, vi } from "vitest";
import { requestContext } from "../log.ts";
import { batched } from "./batched.ts";

const lengths = (words: string[]): Promise<number[]> => Promise.resolve(words.map((word) => word.length));

describe("lookups in the same turn", () => {
  test("are combined into one, and every caller gets its own result", async () => {
    const findAll = vi.fn(lengths);
    const lengthOf = batched(findAll, 10);
    const later = Promise.resolve().then(() => lengthOf("abc"));
    expect(await Promise.all([lengthOf("a"), lengthOf("ab"), later, lengthOf("a")])).toEqual([1, 2, 3, 1]);
    expect(findAll.mock.calls).toEqual([[["a", "ab", "a", "abc"]]]);
  });

  test("S137 count against none of their callers", async () => {
    const seen: unknown[] = [];
    const lengthOf = batched(async (words: string[]) => {
      seen.push(requestContext.getStore());
      return lengths(words);
    }, 10);
    const asked = ["one", "other"].map((requestId) => requestContext.run({ requestId }, () => lengthOf(requestId)));
    expect(await Promise.all(asked)).toEqual([3, 5]);
    expect(seen).toEqual([undefined]);
  });

  test("are split into several statements if they are too many for one", async () => {
    const findAll = vi.fn(lengths);
    const lengthOf = batched(findAll, 2);
    expect(await Promise.all(["a", "ab", "abc"].map(lengthOf))).toEqual([1, 2, 3]);
    expect(findAll.mock.calls).toEqual([[["a", "ab"]], [["abc"]]]);
  });

  test("fail together without affecting the next turn", async () => {
    const findAll = vi.fn(lengths).mockRejectedValueOnce(new Error("away"));
    const lengthOf = batched(findAll, 10);
    const outcomes = await Promise.allSettled([lengthOf("a"), lengthOf("ab")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await lengthOf("ab")).toBe(2);
  });
});

test("a caller that asks during a query gets a result that was read afterwards", async () => {
  const answers: (() => void)[] = [];
  let now = 1;
  const read = batched(async (keys: string[]) => {
    const found = keys.map(() => now);
    await new Promise<void>((resolve) => answers.push(resolve));
    return found;
  }, 10);
  const first = read("x");
  await expect.poll(() => answers.length).toBe(1);
  now = 2;
  const second = read("x");
  await expect.poll(() => answers.length).toBe(2);
  for (const answer of answers) answer();
  expect([await first, await second]).toEqual([1, 2]);
});
