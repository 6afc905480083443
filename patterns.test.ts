import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check } from "recheck";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";

/**
 * With a slow expression, one hostile text could stop a process for minutes (S137, S138). To fix it, let adjacent repetitions
 * share no character: `[^<>]*` instead of `[^>]*`, or `(?<!\s)\s+$`.
 */
const FILES = "{*,{core,api,app,pages,server,worker,packages/*/src}/**/*}.{ts,tsx}";
const NOT_OF_THE_PRODUCT = ["**/*.test.*", "**/testing*", "core/generated/**"];

/** Limits on steps do not depend on the machine's load. */
const LIMITS = {
  timeout: null,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
  maxAttackStringSize: 30_000,
  attackLimit: 20_000_000,
  // The default for patterns with a look-ahead or look-behind takes twice the time.
  maxGeneStringSize: 600,
};

test.each([/\s+$/, /(?<!a)\s+$/, /(?=x)?.*-.*-.*-$/m, /^(?=.*x)[^y]*[^z]*$/, /(?<!\d)(\d+)(\.\d+)*(?=\d*x)/])(
  "%s is found to be slow",
  { timeout: 120_000 },
  async ({ source, flags }) => {
    expect(await check(source, flags, LIMITS)).toMatchObject({ status: "vulnerable" });
  },
);

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
    if (!/[*+]|,\}/.test(source)) continue;
    const { status } = await check(source, flags, LIMITS);
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
