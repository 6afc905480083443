import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check } from "recheck";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";

/**
 * Every pattern of the product takes a time that grows with the text and no faster (S137, S138): one that is tried anew at each character
 * lets one text of a stranger stop a process for minutes. To mend a pattern that fails here, let neighbours share no character
 * (`[^<>]*` in place of `[^>]*`), look behind so that a run is tried once (`(?<!\s)\s+$`), or let it match where it would fail.
 */
const FILES = "{*,{core,api,app,pages,server,worker,packages/*/src}/**/*}.{ts,tsx}";
const NOT_OF_THE_PRODUCT = ["**/*.test.*", "**/testing*", "core/generated/**"];

test("every pattern takes linear time", { timeout: 600_000 }, async () => {
  const patterns = new Map<string, { source: string; flags: string; files: string[] }>();
  for (const file of globSync(FILES, { cwd: import.meta.dirname, exclude: NOT_OF_THE_PRODUCT })) {
    const code = readFileSync(join(import.meta.dirname, file), "utf8");
    for (const { pattern: source, flags } of patternsIn(parseAst(code, { lang: file.endsWith("x") ? "tsx" : "ts" }))) {
      const known = patterns.get(`/${source}/${flags}`);
      if (known) known.files.push(file);
      else patterns.set(`/${source}/${flags}`, { source, flags, files: [file] });
    }
  }
  expect(patterns.size).toBeGreaterThan(400);

  const slow: string[] = [];
  for (const [text, { source, flags, files }] of patterns) {
    if (!/[*+]|,\}/.test(source)) continue; // Without an endless repetition, a pattern looks at as many characters as it names.
    const { status } = await check(source, flags);
    if (status !== "safe") slow.push(`${text} is ${status}: ${files.join(", ")}`);
  }
  expect(slow).toEqual([]);
});

type Pattern = { pattern: string; flags: string };

function* patternsIn(node: unknown): Generator<Pattern> {
  if (typeof node !== "object" || node === null) return;
  if ("regex" in node) yield node.regex as Pattern;
  else for (const child of Object.values(node)) yield* patternsIn(child);
}
