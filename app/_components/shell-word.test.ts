import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWord } from "./shell-word.ts";

test.each(["main", "feature/x_1.2", "$(touch\tx)", "a;b|c&d", "it's", "`id`", '"', "ü", "#1", "~x", ""])(
  "a shell reads %j as one word with exactly this text",
  (text) => {
    expect(execFileSync("sh", ["-c", `printf '<%s>' HEAD:${shellWord(text)}`], { encoding: "utf8" })).toBe(`<HEAD:${text}>`);
  },
);

test("a plain name gets no quotation marks", () => {
  expect(shellWord("feature/x_1.2")).toBe("feature/x_1.2");
});
