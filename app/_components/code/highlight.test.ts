import { describe, expect, test } from "vitest";
import { highlightLines } from "./highlight.ts";

const textOf = (text: string, name: string) => highlightLines(text, name).map((line) => line.map((token) => token.text).join(""));

describe("highlightLines", () => {
  test("keeps every character, whatever the language, and colours what it knows", () => {
    const texts = ["/* a\n * b */\nconst x = `one\n two`;\n", "", "\n\n", "<b>&amp;</b>\r\nlast", "# é 🌊\n'''\nopen"];
    for (const text of texts) {
      for (const name of ["a.ts", "a.py", "a.html", "a.md", "a.unknown", "Makefile", "noname"]) {
        expect(textOf(text, name), `${name}: ${text}`).toEqual(text.split(/\r?\n/));
      }
    }
    const [first, second] = highlightLines("/* a\n b */", "a.ts");
    // A comment goes on in the next line.
    expect(first).toEqual([{ className: "hljs-comment", text: "/* a" }]);
    expect(second).toEqual([{ className: "hljs-comment", text: " b */" }]);
  });

  test("what is huge, or has a line that is, comes without colours", () => {
    const classes = (text: string) => highlightLines(text, "a.ts").flatMap((line) => line.map((token) => token.className));
    expect(classes("const a = 1;\n".repeat(20_000)).every((one) => one === undefined)).toBe(true);
    expect(classes(`const a = "${"x".repeat(3_000)}";`)).toEqual([undefined]);
    expect(classes("const a = 1;")).toContain("hljs-keyword");
  });
});
