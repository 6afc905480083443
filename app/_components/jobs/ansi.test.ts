import { expect, test } from "vitest";
import { plainLine, styledLine } from "./ansi.ts";

test("terminal colors become colors of the page, and other terminal sequences are left out", () => {
  expect(styledLine("\u001b[31mred\u001b[0m plain \u001b[1;92mbold green\u001b[22;39m end")).toEqual([
    { text: "red", style: "text-bad" },
    { text: " plain ", style: "" },
    { text: "bold green", style: "text-good font-semibold" },
    { text: " end", style: "" },
  ]);
  expect(styledLine("\u001b[38;5;196mx\u001b[38;2;1;2;3my\u001b[48;5;4mz")).toEqual(
    ["x", "y", "z"].map((text) => ({ text, style: "" })),
  );
  expect(plainLine("10%\r50%\r100%\r")).toBe("100%");
  expect(plainLine("a\u001b[2Kb\u001b]0;title\u0007c\u001b]8;;javascript:alert(1)\u001b\\d\u001b]8;;\u001b\\\u0008e\u0000")).toBe(
    "abcde",
  );
  expect(plainLine("<script>alert(1)</script>\t&")).toBe("<script>alert(1)</script>\t&");
  expect(plainLine("\u001b]0;never closed")).toBe("");
});
