import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const here = fileURLToPath(new URL(".", import.meta.url));

async function sources(): Promise<string[]> {
  const names = await readdir(here, { recursive: true });
  return names.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
}

test("imports zod and its own files, and nothing else", async () => {
  const names = await sources();
  expect(names.length).toBeGreaterThan(40);
  for (const name of names) {
    const text = await readFile(join(here, name), "utf8");
    for (const [, from = ""] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g)) {
      expect(from, name).toMatch(/^(zod$|\.\.?\/.*\.ts$)/);
    }
  }
});

test("runs where there is only what browsers have: it compiles without Node's types", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sdk-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const compilerOptions = {
    ...{ target: "es2023", lib: ["es2023", "dom"], types: [], typeRoots: [] },
    ...{ module: "esnext", moduleResolution: "bundler", allowImportingTsExtensions: true, noEmit: true },
    ...{ strict: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true, isolatedModules: true, skipLibCheck: true },
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [join(here, "index.ts")] }));
  const tsc = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch((error) => error);
  expect(stdout).toBe("");
}, 120_000);
