import { expect, test } from "vitest";
import { noticeOf } from "./page-query.ts";

test("S138 a notice is one of the page's own sentences, or none: what every object has is no sentence", () => {
  const notices: Record<string, string> = { saved: "It is saved." };
  expect(noticeOf(notices, "saved")).toBe("It is saved.");
  expect(noticeOf(notices, ["saved", "constructor"])).toBe("It is saved.");
  for (const name of [undefined, "", "__proto__", "constructor", "toString", "unknown"]) {
    expect([name, noticeOf(notices, name)]).toEqual([name, undefined]);
  }
});
