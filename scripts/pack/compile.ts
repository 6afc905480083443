import { copyFileSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT, runProgram } from "./run-program.ts";

type Compiled = {
  /** The package's sources. */
  source: string;
  /** Where JavaScript and declarations go. */
  out: string;
  /** Where the declarations of `@keyhook/sdk` are, for packages that carry it. */
  sdkTypes?: string | undefined;
};

const isPublished = (path: string): boolean => !/\.test\.tsx?$|(^|\/)testing(\/|$)/.test(path);

/** Compiles a package's TypeScript to JavaScript with declarations beside it, and copies what else lies among its sources. */
export function compile({ source, out, sdkTypes }: Compiled): void {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (path) => isPublished(path) && statSync(join(source, path)).isFile(),
  );
  const config = join(dirname(out), "tsconfig.json");
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: {
        // What Node 20 and the browsers of the day know.
        target: "es2022",
        noEmit: false,
        incremental: false,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        plugins: [],
        typeRoots: [join(ROOT, "node_modules/@types")],
        rootDir: source,
        outDir: out,
        // The sources of the workspace's SDK would be compiled once more, into this package.
        ...(sdkTypes && { paths: { "@keyhook/sdk": [sdkTypes] } }),
      },
      include: [],
      files: files.filter((path) => path.endsWith(".ts")).map((path) => join(source, path)),
    }),
  );
  runProgram("tsc", ["--project", config]);
  for (const path of globSync("**/*.d.ts", { cwd: out })) rewriteImports(join(out, path));
  for (const path of files.filter((path) => !path.endsWith(".ts"))) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    copyFileSync(join(source, path), join(out, path));
  }
}

/** The compiler rewrites `./x.ts` in JavaScript and leaves it in declarations, where it would lead to sources that are not there. */
function rewriteImports(path: string): void {
  const text = readFileSync(path, "utf8");
  const imports = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.{1,2}\/[^"'\n]+)\.ts\2/g;
  writeFileSync(
    path,
    text.replace(imports, (_whole, before, quote, target) => `${before}${quote}${target}.js${quote}`),
  );
}

/** Where a source file is after compiling, as package.json names it: `./src/index.ts` is `./dist/index.js`. */
export function compiledPath(path: string, extension: ".js" | ".d.ts"): string {
  return `./dist/${relative("src", path).replace(/\.ts$/, extension)}`;
}
