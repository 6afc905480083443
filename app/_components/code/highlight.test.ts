import { describe, expect, test } from "vitest";
import { highlightLines } from "./highlight.ts";

const textOf = async (text: string, name: string) =>
  (await highlightLines(text, name)).map((line) => line.map((token) => token.text).join(""));

describe("highlightLines", () => {
  test("keeps every character, whatever the language, and colours what it knows", async () => {
    const texts = ["/* a\n * b */\nconst x = `one\n two`;\n", "", "\n\n", "<b>&amp;</b>\r\nlast", "# é 🌊\n'''\nopen"];
    for (const text of texts) {
      for (const name of ["a.ts", "a.py", "a.html", "a.md", "a.unknown", "Makefile", "noname"]) {
        expect(await textOf(text, name), `${name}: ${text}`).toEqual(text.split(/\r?\n/));
      }
    }
    const [first, second] = await highlightLines("/* a\n b */", "a.ts");
    // A comment goes on in the next line.
    expect(first).toEqual([{ className: "hljs-comment", text: "/* a" }]);
    expect(second).toEqual([{ className: "hljs-comment", text: " b */" }]);
  });

  test("what is huge, or has a line that is, comes without colours", async () => {
    const classes = async (text: string) =>
      (await highlightLines(text, "a.ts")).flatMap((line) => line.map((token) => token.className));
    expect((await classes("const a = 1;\n".repeat(20_000))).every((one) => one === undefined)).toBe(true);
    expect(await classes(`const a = "${"x".repeat(3_000)}";`)).toEqual([undefined]);
    expect(await classes("const a = 1;")).toContain("hljs-keyword");
  });

  test("S138 what takes very long comes without colours, and nobody else has waited for it", async () => {
    // The patterns of this language took half a minute for it.
    const text = "a\n".repeat(30_000);
    const begun = Date.now();
    let longest = 0;
    let last = Date.now();
    const beat = setInterval(() => {
      longest = Math.max(longest, Date.now() - last);
      last = Date.now();
    }, 20);
    const lines = await highlightLines(text, "a.ino");
    clearInterval(beat);
    expect(lines).toHaveLength(30_001);
    expect(longest).toBeLessThan(2_500);
    expect(Date.now() - begun).toBeLessThan(12_000);
  });
});
