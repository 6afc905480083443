import { expect, test } from "vitest";
import { plainText } from "#core/accounts/plain-text.ts";
import { noticeOf, searchOf } from "./page-query.ts";

test("S138 a notice is one of the page's own sentences, never a property that every object has", () => {
  const notices: Record<string, string> = { saved: "It is saved." };
  expect(noticeOf(notices, "saved")).toBe("It is saved.");
  expect(noticeOf(notices, ["saved", "constructor"])).toBe("It is saved.");
  for (const name of [undefined, "", "__proto__", "constructor", "toString", "unknown"]) {
    expect([name, noticeOf(notices, name)]).toEqual([name, undefined]);
  }
});

test("S51 a page's search is text, whatever its URL contains", () => {
  const odd = ["\ufffd", "a\ufffd b", `${"x".repeat(199)}\u{1f30a}`, "\ud83c", ["two", "of them"], undefined];
  expect(odd.map(searchOf)).toEqual(["", "a b", "x".repeat(199), "", "two", ""]);
  for (const one of odd) expect(() => plainText("search", searchOf(one), 200)).not.toThrow();
});
