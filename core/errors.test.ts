import { expect, test } from "vitest";
import { checkAll, conflict, invalidRequest } from "./errors.ts";

const refuse = (field: string) => () => {
  throw invalidRequest(`Not this ${field}.`, field);
};

test("all checks run, and the first failure contains the others, including those of nested checks", async () => {
  const inner = () => checkAll({ one: refuse("one"), two: async () => refuse("two")() });
  const failed = checkAll({ good: () => 1, inner, other: () => Promise.reject(conflict("Taken.", "other")) });
  await expect(failed).rejects.toMatchObject({ field: "one", others: [{ field: "two" }, { field: "other", code: "conflict" }] });
});

test("returns the results if no check fails, and throws an unexpected error at once", async () => {
  expect(await checkAll({ one: () => 1, two: async () => "2" })).toEqual({ one: 1, two: "2" });
  const crash = new Error("the database is away");
  await expect(checkAll({ one: refuse("one"), two: () => Promise.reject(crash) })).rejects.toBe(crash);
});
