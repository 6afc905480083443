import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = join(import.meta.dirname, "../..");

const testPatterns = ["{core,api,app,worker,server,packages,scripts}/**/*.test.{ts,tsx}", "*.test.ts"];

/**
 * `pure`: needs no database and starts nothing, so that threads are process enough. `process`: asks the running service that these files
 * share.
 */
export type TestKind = "pure" | "database" | "process";

const SHARED_SERVICE = "core/testing/shared-service.ts";
const DATABASE = /^core\/(db\.ts|postgres\/|testing\/)/;
/** Programs and threads of its own, and what reaches for the whole process. */
const OWN_PROCESS =
  /node:(child_process|worker_threads|cluster)|from "(recheck)"|process\.(on|once|chdir|kill|emit|umask)\(|import\.meta\.resolve/;

/**
 * Vitest's own graph would know as much, but only after it has compiled everything: what a file imports says which kind it is, so
 * that no list of files has to be kept.
 */
export function kindOf(file: string): TestKind {
  const reached = filesReached(file);
  if (reached.has(SHARED_SERVICE)) return "process";
  const isPure = [...reached].every((path) => !DATABASE.test(path) && !OWN_PROCESS.test(sourceOf(path).text));
  return isPure ? "pure" : "database";
}

export function testFiles(): Record<TestKind, string[]> {
  const files: Record<TestKind, string[]> = { pure: [], database: [], process: [] };
  const found = globSync(testPatterns, { cwd: root, exclude: ["**/node_modules/**", "**/.next*/**"] });
  for (const file of found.sort()) files[kindOf(file)].push(file);
  return files;
}

/** The project's files that a file imports, itself among them. */
function filesReached(file: string): ReadonlySet<string> {
  const reached = new Set<string>();
  for (const left = [file]; left.length > 0; ) {
    const path = left.pop() as string;
    if (reached.has(path)) continue;
    reached.add(path);
    left.push(...sourceOf(path).imports);
  }
  return reached;
}

type Source = { text: string; imports: string[] };
const sources = new Map<string, Source>();

function sourceOf(path: string): Source {
  const known = sources.get(path);
  if (known) return known;
  const text = readFileSync(join(root, path), "utf8");
  const source = { text, imports: /\.[cm]?tsx?$/.test(path) ? importsOf(path, text) : [] };
  sources.set(path, source);
  return source;
}

/** Of types alone nothing is left when it runs. */
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
