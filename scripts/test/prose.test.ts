import { expect, test } from "vitest";
import { phrases, screenPhrases } from "../prose/phrases.ts";
import { findPhrases } from "../prose.ts";

test.each(phrases)("$pattern finds its example", ({ example, say }) => {
  expect(findPhrases("a.md", example).map((finding) => finding.say)).toContain(say);
});

test.each(screenPhrases)("on screen, $pattern finds its example", ({ example, say }) => {
  expect(findPhrases("docs/strings.txt", example).map((finding) => finding.say)).toContain(say);
});

test("a phrase is found across lines of a comment, with the number of its line", () => {
  const code = ["const a = 1;", "/**", " * Reads nothing", " * but its own files.", " */", "// It is kept", "// for ever."].join(
    "\n",
  );
  expect(findPhrases("a.ts", code).map(({ line, found }) => `${line} ${found}`)).toEqual(["3 nothing but", "7 for ever"]);
});

test("a phrase after a fenced block is found with the number of its line", () => {
  const text = "One.\n\n```sh\necho nothing but\n```\n\nTwo.\nNothing but code.\n";
  expect(findPhrases("a.md", text).map(({ line }) => line)).toEqual([8]);
});

test.each([
  ["a.ts", 'const text = "Nobody but you"; // fine'],
  ["a.ts", 'const url = "https://example.com/nothing but";'],
  ["a.md", "`nothing but` in code, _See your e-mail address_ on screen, “for ever” in quotes"],
  ["a.md", "There is no proof. It is no longer there. If there is none, go on to the next step."],
])("nothing is found in %s: %s", (path, text) => {
  expect(findPhrases(path, text)).toEqual([]);
});
