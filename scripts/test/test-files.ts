import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";

const root = join(import.meta.dirname, "../..");

const testPatterns = ["{core,api,app,worker,server,packages,scripts}/**/*.test.{ts,tsx}", "*.test.ts"];

/** `pure`: can run in a thread. `process`: sends requests to the running service that these files share. */
export type TestKind = "pure" | "database" | "process";

const SHARED_SERVICE = "core/testing/shared-service.ts";
const DATABASE = /^core\/(db\.ts|postgres\/|testing\/)/;
/** Files that start programs or threads, or change the whole process. */
const OWN_PROCESS =
  /node:(child_process|worker_threads|cluster)|from "(recheck|typescript\/unstable\/sync)"|process\.(on|once|chdir|kill|emit|umask)\(|import\.meta\.resolve/;

/** Vitest's own graph has the imports too, but only after Vitest has compiled everything. */
export function kindOf(file: string): TestKind {
  const reached = filesReached(file);
  if (reached.has(SHARED_SERVICE)) return "process";
  return [...reached].every((path) => sourceOf(path).isPure) ? "pure" : "database";
}

export function testFiles(): Record<TestKind, string[]> {
  const files: Record<TestKind, string[]> = { pure: [], database: [], process: [] };
  const found = globSync(testPatterns, { cwd: root, exclude: ["**/node_modules/**", "**/.next*/**"] });
  for (const file of found.sort()) files[kindOf(file)].push(file);
  return files;
}

/** A module with more imports than this only assembles other modules. */
const NEAR_IMPORTS_MAX = 12;

/** A near file imports a changed file, is in its folder, or is named after the file or the folder. */
export function testFilesNear(changed: readonly string[]): string[] {
  const isBeside = (test: string, path: string) => {
    const folder = dirname(path);
    if (folder === "." || path.includes(".test.")) return false;
    const names = [basename(path, extname(path)), basename(folder)];
    const isNamedAfter = (name: string) => basename(test).startsWith(`${name}.`) || basename(test).startsWith(`${name}-`);
    return dirname(test) === folder || names.some(isNamedAfter);
  };
  return Object.values(testFiles())
    .flat()
    .filter((test) => {
      const reached = filesReached(test, (path) => path === test || sourceOf(path).imports.length <= NEAR_IMPORTS_MAX);
      return changed.some((path) => reached.has(path) || isBeside(test, path));
    });
}

/** The result includes the file itself. Imports of a file are followed only if `isFollowed` is true for the file. */
function filesReached(file: string, isFollowed: (path: string) => boolean = () => true): ReadonlySet<string> {
  const reached = new Set<string>();
  for (const left = [file]; left.length > 0; ) {
    const path = left.pop() as string;
    if (reached.has(path)) continue;
    reached.add(path);
    if (isFollowed(path)) left.push(...sourceOf(path).imports);
  }
  return reached;
}

type Source = { isPure: boolean; imports: string[] };
const sources = new Map<string, Source>();

function sourceOf(path: string): Source {
  const known = sources.get(path);
  if (known) return known;
  const text = readFileSync(join(root, path), "utf8");
  const isPure = !DATABASE.test(path) && !OWN_PROCESS.test(text);
  const source = { isPure, imports: /\.[cm]?tsx?$/.test(path) ? importsOf(path, text) : [] };
  sources.set(path, source);
  return source;
}

/** An import of only types does not exist at run time. */
const IMPORT = /^(?:import|export)\s(?!type\b)(?:[^;"']*?\bfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;

function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, fixed, dynamic]) => {
    const name = (fixed ?? dynamic) as string;
    const at = name.startsWith("#core/")
      ? join(root, name.slice(1))
      : name.startsWith("@keyhook/")
        ? join(root, "packages", name.slice("@keyhook/".length), "src/index.ts")
        : name.startsWith(".")
          ? resolve(root, dirname(path), name)
          : undefined;
    return at && existsSync(at) ? [relative(root, at)] : [];
  });
}
