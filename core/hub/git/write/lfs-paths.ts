import { join } from "node:path";
import { runWalkGit, WALK_MAX_MS } from "../read/walk.ts";
import type { GitOptions } from "../run-git.ts";

/** What is usually large and never merged line by line: kept by Git LFS unless a repository's .gitattributes say otherwise. */
const LFS_EXTENSIONS: ReadonlySet<string> = new Set(
  `7z arrow avi bin bz2 ckpt ftz gguf gz h5 joblib mkv mlmodel model mov mp3 mp4 msgpack npy npz onnx ot parquet pb pickle pkl
   pt pth rar safetensors tar tflite tgz wasm wav xz zip zst`.split(/\s+/),
);

/** `*.bin`, for a path that ends in one of the usual extensions; undefined for others. */
export function usualLfsPattern(path: string): string | undefined {
  const extension = /[^/]\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase();
  return extension && LFS_EXTENSIONS.has(extension) ? `*.${extension}` : undefined;
}

export type Attributed = {
  /** The commit whose .gitattributes count, in every folder. */
  commit: string | null;
  /** The one at the root, where it is about to be another. */
  rootAttributes?: Uint8Array | undefined;
  /** How long each command may take. */
  maxMs?: number;
};

/** What `.gitattributes` say of a path's filter: that Git LFS keeps it, that nothing does, or no word. */
export type Filter = "lfs" | "none" | undefined;

/**
 * What the .gitattributes of a commit say of Git LFS for each path, in git's own reading of them. Call it within a walk, as findIgnoredPaths.
 * @param gitDirectory a quarantine, where the files that git needs for this are left
 * @throws RanOutOfTime
 */
export async function readLfsFilters(
  gitDirectory: string,
  paths: readonly string[],
  { commit, rootAttributes, maxMs = WALK_MAX_MS }: Attributed,
): Promise<Map<string, Filter>> {
  const run: Run = (args, options) => runWalkGit(gitDirectory, args, { timeoutMs: maxMs, ...options });
  const found = new Map(commit ? await findAttributeFiles(run, paths, commit) : []);
  if (rootAttributes) {
    const oid = await run(["hash-object", "-w", "--stdin"], { input: rootAttributes });
    found.set(".gitattributes", oid.toString("latin1").trim());
  }
  if (found.size === 0) return new Map();
  // In a bare repository attributes are read from an index: one that has nothing but these files.
  const env = { GIT_INDEX_FILE: join(gitDirectory, "attributes-index") };
  const entries = [...found].map(([path, oid]) => `100644 ${oid}\t${path}\0`);
  await run(["read-tree", "--empty"], { env });
  await run(["update-index", "-z", "--index-info"], { input: entries.join(""), env });
  const input = paths.map((path) => `${path}\0`).join("");
  const output = await run(["check-attr", "--cached", "-z", "--stdin", "filter"], { input, env });
  const fields = output.toString("utf8").split("\0");
  const filters = new Map<string, Filter>();
  for (let at = 0; at + 2 < fields.length; at += 3) filters.set(fields[at] as string, filterOf(fields[at + 2] as string));
  return filters;
}

type Run = (args: readonly string[], options: GitOptions) => Promise<Buffer>;

function filterOf(value: string): Filter {
  if (value === "lfs") return "lfs";
  return value === "unspecified" ? undefined : "none";
}

/** The .gitattributes of all folders that the paths are in, each with its blob. */
async function findAttributeFiles(run: Run, paths: readonly string[], commit: string): Promise<[string, string][]> {
  const candidates = [...new Set(paths.flatMap(attributeFilesFor))];
  const input = candidates.map((path) => `${commit}:${path}\n`).join("");
  const output = await run(["cat-file", "--batch-check=%(objecttype) %(objectname)"], { input });
  const lines = output.toString("utf8").split("\n");
  return candidates.flatMap((path, index) => {
    const [, oid] = /^blob ([0-9a-f]{40})$/.exec(lines[index] ?? "") ?? [];
    return oid ? [[path, oid] as [string, string]] : [];
  });
}

function attributeFilesFor(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return [0, ...names.keys()].map((_, depth) => [...names.slice(0, depth), ".gitattributes"].join("/"));
}

/** A line of .gitattributes that gives a path to Git LFS. */
export function lfsAttributeLine(path: string): string {
  const pattern = usualLfsPattern(path) ?? exactPattern(path);
  return `${pattern} filter=lfs diff=lfs merge=lfs -text`;
}

/** The pattern that fits a path alone; quoted as C does, where it has what would end or begin a pattern. */
function exactPattern(path: string): string {
  const pattern = `/${path.replace(/[*?[\\]/g, "\\$&")}`;
  return /[\s"]/.test(pattern) ? `"${pattern.replace(/["\\]/g, "\\$&")}"` : pattern;
}
