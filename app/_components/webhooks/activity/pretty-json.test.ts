import { expect, test } from "vitest";
import { prettyJson } from "./pretty-json.ts";

test("JSON is indented unless it has nothing to indent or has numbers that JavaScript would change", () => {
  expect(prettyJson(' {"a":[1,{}, [ ]],"b":"[{,:\\"]"}')).toBe(
    '{\n  "a": [\n    1,\n    {},\n    []\n  ],\n  "b": "[{,:\\"]"\n}',
  );
  for (const text of ["1", '"a"', "", "{", "<a>[1]</a>", "[12345678901234567890]", "[".repeat(65_536)]) {
    expect(prettyJson(text)).toBeNull();
  }
});

test("S137 a small text that would become a large one is not indented", () => {
  const nested = `${"[".repeat(1_000)}${"1,".repeat(30_000)}1${"]".repeat(1_000)}`;
  expect(nested.length).toBeLessThan(64 * 1024);
  expect(prettyJson(nested)).toBeNull();
  const lists = (count: number) => ({ text: JSON.stringify({ a: Array(count).fill([]) }, null, 2), count });
  for (const { text, count } of [lists(32_766), lists(32_767)]) {
    expect([count, prettyJson(text)]).toEqual([count, text.length <= 256 * 1024 ? text : null]);
  }
  expect(prettyJson(JSON.stringify(["[{,:".repeat(60_000)]))).not.toBeNull();
});
