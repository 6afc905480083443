import { join } from "node:path";
import { Readable } from "node:stream";
import { walks } from "../queues.ts";
import { runWalkGit, WALK_MAX_MS } from "../read/walk.ts";
import { GitFailed, type GitOptions, runGit } from "../run-git.ts";
import type { Change } from "./build-commit.ts";
import type { Collected } from "./collect-changes.ts";
import { Folders } from "./folders.ts";
import type { Import } from "./start-import.ts";

const ATTRIBUTES_MAX_BYTES = 1024 * 1024;
const LINE_MAX_BYTES = 2_048;
const LINES_AT_ONCE = 1_000;

/** Without these .gitattributes, clones would have pointers instead of files. `within` is the repository's path. */
export async function addLfsAttributes(
  { changes, lfsPaths, rootAttributes }: Collected,
  { git, gitDirectory, parent, within }: { git: Import; gitDirectory: string; parent: string | null; within: string },
): Promise<readonly Change[]> {
  if (lfsPaths.length === 0) return changes;
  const filters = await walks.run(() => readLfsFilters(gitDirectory, lfsPaths, { commit: parent, rootAttributes }), { within });
  const lines = [...new Set(lfsPaths.filter((path) => filters.get(path) !== "lfs").map(lfsAttributeLine))];
  const readable = lines.filter((line) => Buffer.byteLength(line) < LINE_MAX_BYTES);
  if (readable.length === 0) return changes;
  const present = Buffer.from(rootAttributes ?? (await readRootAttributes(gitDirectory, parent)));
  const separator = present.length > 0 && present.at(-1) !== 0x0a ? "\n" : "";
  const added = Buffer.concat([present, Buffer.from(`${separator}${readable.join("")}`)]);
  if (added.length > ATTRIBUTES_MAX_BYTES) return changes;
  return [...changes, { kind: "put", path: ".gitattributes", blob: await git.writeBlob(added) }];
}

async function readRootAttributes(gitDirectory: string, commit: string | null): Promise<Uint8Array> {
  if (!commit) return new Uint8Array();
  try {
    const limits = { isLimited: true, memoryMiB: 1_024 };
    return await runGit(gitDirectory, ["cat-file", "blob", `${commit}:.gitattributes`], limits);
  } catch (error) {
    if (error instanceof GitFailed && error.status === 128) return new Uint8Array();
    throw error;
  }
}

const LFS_EXTENSIONS: ReadonlySet<string> = new Set(
  `7z arrow avi bin bz2 ckpt ftz gguf gz h5 joblib mkv mlmodel model mov mp3 mp4 msgpack npy npz onnx ot parquet pb pickle pkl
   pt pth rar safetensors tar tflite tgz wasm wav xz zip zst`.split(/\s+/),
);

export function usualLfsPattern(path: string): string | undefined {
  const extension = /[^/]\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase();
  return extension && LFS_EXTENSIONS.has(extension) ? `*.${extension}` : undefined;
}

export function usualLfsAttributes(): string {
  const patterns = [
    ...[...LFS_EXTENSIONS].map((extension) => `*.${extension}`),
    "*.lfs.*",
    "*.tar.*",
    "*tfevents*",
    "saved_model/**/*",
  ];
  return patterns.map(assignedToLfs).join("");
}

type Attributed = {
  commit: string | null;
  /** Set if this commit changes the root's .gitattributes. */
  rootAttributes?: Uint8Array | undefined;
  maxMs?: number;
};

export type Filter = "lfs" | "none" | undefined;

/** Call this with a slot for walks. Git's temporary files stay in the quarantine `gitDirectory`. */
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
  // In a bare repository, git reads attributes only from an index.
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

async function findAttributeFiles(run: Run, paths: readonly string[], commit: string): Promise<[string, string][]> {
  const folders = new Folders();
  const candidates = [".gitattributes"];
  for (const path of paths) for (const folder of folders.add(path)) candidates.push(`${folder}/.gitattributes`);
  const input = Readable.from(linesOf(candidates, commit));
  const output = await run(["cat-file", "--batch-check=%(objecttype) %(objectname)"], { input });
  const lines = output.toString("utf8").split("\n");
  return candidates.flatMap((path, index) => {
    const [, oid] = /^blob ([0-9a-f]{40})$/.exec(lines[index] ?? "") ?? [];
    return oid ? [[path, oid] as [string, string]] : [];
  });
}

function* linesOf(paths: readonly string[], commit: string): Generator<string> {
  for (let at = 0; at < paths.length; at += LINES_AT_ONCE) {
    const lines = paths.slice(at, at + LINES_AT_ONCE).map((path) => `${commit}:${path}\n`);
    yield lines.join("");
  }
}

function lfsAttributeLine(path: string): string {
  const pattern = usualLfsPattern(path) ?? exactPattern(path);
  return assignedToLfs(pattern);
}

const assignedToLfs = (pattern: string): string => `${pattern} filter=lfs diff=lfs merge=lfs -text\n`;

/** The pattern is in C quotes if the path has characters that would end or begin a pattern. */
function exactPattern(path: string): string {
  const pattern = `/${path.replace(/[*?[\\]/g, "\\$&")}`;
  return /[\s"]/.test(pattern) ? `"${pattern.replace(/["\\]/g, "\\$&")}"` : pattern;
}
