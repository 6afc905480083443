import { parseFragment } from "parse5";
import { describe, expect, test } from "vitest";
import { highlight } from "./code-view.tsx";

type Node = { value?: string; childNodes?: Node[] };
const textOf = ({ value, childNodes = [] }: Node): string => value ?? childNodes.map(textOf).join("");

describe("highlight", () => {
  test("keeps every character in any language, and colors known syntax", async () => {
    const texts = [
      "/* a\n * b */\nconst x = `one\n two`;\n",
      "\n\n",
      "<b>&amp;</b>\n<script>alert(1)</script>",
      "# é 🌊\n'''\nopen",
    ];
    for (const text of texts) {
      for (const name of ["a.ts", "a.py", "a.html", "a.md", "Makefile"]) {
        expect(textOf(parseFragment((await highlight(text, name)) as string) as Node), `${name}: ${text}`).toBe(text);
      }
      for (const name of ["a.unknown", "noname"]) expect(await highlight(text, name)).toBeUndefined();
    }
    expect(await highlight("/* a\n b */", "a.ts")).toBe('<span class="hljs-comment">/* a\n b */</span>');
  });

  test("leaves a huge file, or one with a huge line, without colors", async () => {
    expect(await highlight("const a = 1;\n".repeat(20_000), "a.ts")).toBeUndefined();
    expect(await highlight(`const a = "${"x".repeat(3_000)}";`, "a.ts")).toBeUndefined();
    expect(await highlight("const a = 1;", "a.ts")).toContain("hljs-keyword");
  });

  test("S138 gives up on code that takes very long to highlight, at little cost for the event loop", async () => {
    // The library's patterns for this language took half a minute for this text.
    const text = "a\n".repeat(30_000);
    const before = process.threadCpuUsage();
    expect(await highlight(text, "a.ino")).toBeUndefined();
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000);
    // The limit counts only processor time, and the subprocess has a low priority, so the test may take long.
  }, 120_000);
});
