import { globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runProgram } from "./pack-packages.ts";

const SDK = join(ROOT, "packages/sdk");
/** app/docs/sdk/reference/read-reference.ts reads this folder. */
const OUT = join(ROOT, "build/sdk-reference");

/** TypeDoc's own pages need scripts, which the CSP blocks. TypeDoc needs an API of TypeScript 6 that TypeScript 7 lacks. */
export function writeReference(): string {
  mkdirSync(join(ROOT, "build"), { recursive: true });
  const work = mkdtempSync(join(ROOT, "build/.reference-"));
  try {
    const tsconfig = join(work, "tsconfig.json");
    writeFileSync(
      tsconfig,
      JSON.stringify({
        extends: join(ROOT, "tsconfig.json"),
        compilerOptions: { plugins: [], incremental: false, types: [] },
        include: [],
        files: [join(SDK, "src/index.ts")],
      }),
    );
    const out = join(work, "out");
    runProgram(process.execPath, [
      join(SDK, "node_modules/typedoc/bin/typedoc"),
      "--options",
      join(SDK, "typedoc.json"),
      "--tsconfig",
      tsconfig,
      "--out",
      out,
    ]);
    for (const path of globSync("**/*.md", { cwd: out })) fitPage(join(out, path));
    rmSync(OUT, { recursive: true, force: true });
    renameSync(out, OUT);
    return OUT;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function fitPage(path: string): void {
  const text = readFileSync(path, "utf8")
    // TypeDoc's links name files. Pages have no extension, and the index is the folder itself.
    .replace(/(\]\(http:\/\/localhost:3000\/docs\/sdk\/reference)((?:\/[\w-]+)*)\.md/g, (_whole, base, page) =>
      page === "/index" ? base : `${base}${page}`,
    )
    // The members of an object type are listed below its declaration.
    .replace(/^```ts\ntype \w+ = object;\n```\n\n/m, "")
    // A destructured parameter has no name, so TypeDoc uses a placeholder.
    .replaceAll("\\_\\_namedParameters", "options")
    .replaceAll("__namedParameters", "options")
    // The specification is not part of the pages.
    .replace(/\s*\(docs\/specification\/[^)\s]+\)/g, "");
  let previous = "";
  const lines = joinTypes(text)
    .split("\n")
    .filter((line) => {
      if (!line.startsWith("## ")) return true;
      const isRepeated = line === previous;
      previous = line;
      return !isRepeated;
    });
  writeFileSync(path, lines.join("\n"));
}

function joinTypes(text: string): string {
  const joined = text
    .replace(/`([^`\n]+)`\\<`([^`\n]+)`((?:\[\])?)\\>/g, "`$1<$2$3>`")
    .replace(/`([^`\n]+)`\\<(\[`[^`\n]+`\]\([^)\s]+\))((?:\[\])?)\\>/g, "`$1<`$2`$3>`")
    .replace(/(\]\([^)\s]+\))\\<`([^`\n]+)`\\>/g, "$1`<$2>`");
  return joined === text ? text : joinTypes(joined);
}
