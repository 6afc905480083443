import { expect, test } from "vitest";
import { diffTexts } from "./diff-texts.ts";

const lines = (hunks: ReturnType<typeof diffTexts>) =>
  hunks?.flatMap((hunk) => hunk.lines.map(({ kind, oldNumber, newNumber, text }) => [kind, oldNumber, newNumber, text]));

test("each line has its number in both texts, or in the one that contains it", () => {
  expect(lines(diffTexts("status: 500\nserver: x\n\nno", "status: 200\nserver: x\n\nno\nyes"))).toEqual([
    ["deleted", 1, null, "status: 500"],
    ["added", null, 1, "status: 200"],
    ["context", 2, 2, "server: x"],
    ["context", 3, 3, ""],
    ["deleted", 4, null, "no"],
    ["added", null, 4, "no"],
    ["added", null, 5, "yes"],
  ]);
});

test("S137 texts that are too long or have nothing in common are not compared", () => {
  const text = (word: string, length: number) => Array.from({ length }, (_, index) => `${word} ${index}`).join("\n");
  expect(diffTexts(text("a", 1_999), text("b", 1_999))).toBeUndefined();
  const differ = (same: string) => diffTexts(`${same} old`, `${same} new`)?.length;
  expect([differ(text("a", 1_999)), differ(text("a", 2_000))]).toEqual([1, undefined]);
  expect([differ("x".repeat(65_531)), differ("x".repeat(65_532))]).toEqual([1, undefined]);
});
