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

test("the SDK imports only its three dependencies and its own files", async () => {
  const names = await sources();
  expect(names.length).toBeGreaterThan(40);
  for (const name of names) {
    const text = await readFile(join(here, name), "utf8");
    for (const [, from = ""] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g)) {
      expect(from, name).toMatch(/^((zod|oauth4webapi|eventsource-parser)$|\.\.?\/.*\.ts$)/);
    }
  }
});

const AROUND = `
  declare const client: import("@keyhook/sdk").Client;
  declare const request: Request;
  declare const id: string, baseUrl: string, clientId: string, clientSecret: string, idToken: string, WEBHOOK_SECRET: string;
  declare function load(): import("@keyhook/sdk").Tokens | undefined;
  declare function save(tokens: import("@keyhook/sdk").Tokens): Promise<void>;
  declare function withFileLock<T>(work: () => Promise<T>): Promise<T>;
`;

test("the SDK and the examples of its README compile without Node's types, with only browser APIs", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sdk-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const readme = await readFile(join(here, "../README.md"), "utf8");
  const snippets = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = ""]) => text);
  expect(snippets.length).toBeGreaterThan(7);
  const files = await Promise.all(
    [AROUND, ...snippets].map(async (text, at) => {
      const name = at === 0 ? "around.d.ts" : `snippet-${at}.ts`;
      await writeFile(join(folder, name), at === 0 ? text : `${text}\nexport {};\n`);
      return name;
    }),
  );
  const compilerOptions = {
    ...{ target: "es2023", lib: ["es2023", "dom"], types: [], typeRoots: [] },
    ...{ module: "esnext", moduleResolution: "bundler", allowImportingTsExtensions: true, noEmit: true },
    ...{ strict: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true, isolatedModules: true, skipLibCheck: true },
    paths: { "@keyhook/sdk": [join(here, "index.ts")] },
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [join(here, "index.ts"), ...files] }));
  const tsc = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch((error) => error);
  expect(stdout).toBe("");
}, 120_000);
