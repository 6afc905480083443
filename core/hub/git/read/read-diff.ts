import { notFound } from "../../../errors.ts";
import { downloads } from "../queues.ts";
import { GitFailed, isOutOfMemory, TooMuchOutput } from "../run-git.ts";
import type { Diff, DiffFile } from "./diff.ts";
import { OutputSplitter } from "./output-splitter.ts";
import { Patches, RawDiff } from "./parse-diff.ts";
import { runWalk, spawnWalkGit, WALK_MAX_MS, type Walked, walker } from "./walk.ts";

export const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

const FILES_MAX = 1_000;
/** In a page, each character may become ten, and each name occurs several times (S137). Names leave less room for lines. */
const NAMES_MAX_CHARACTERS = 128 * 1024;
const LIMITS = { fileLines: 1_000, lines: 3_000, lineCharacters: 1_000, characters: 256 * 1024 };
const OUTPUT_MAX_BYTES = 8 * 1024 * 1024;

const CONFIG = ["core.bigFileThreshold=2m", "diff.renameLimit=400"];
const ARGUMENTS = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--full-index", "--no-ext-diff", "--no-textconv"];

type DiffOptions = {
  sinceMergeBase?: boolean;
  /** False for readers without access: line counts and renames would let them test guesses of the content. */
  withLines?: boolean;
  maxMs?: number;
};

/** After a timeout, returns what has arrived. Later callers get only the names of files. */
export async function readDiff(
  directory: string,
  from: string,
  to: string,
  { sinceMergeBase = false, withLines = true, maxMs = WALK_MAX_MS }: DiffOptions = {},
): Promise<Diff> {
  const walk = () => walkDiff(directory, from, to, { sinceMergeBase, withLines, maxMs });
  return walkOnce({ directory, of: [from, to, `${sinceMergeBase} ${withLines}`], walk });
}

const walkOnce = walker<Diff>({ max: 100, keepsWhole: false });

async function walkDiff(
  directory: string,
  from: string,
  to: string,
  { sinceMergeBase, withLines, maxMs }: Required<DiffOptions>,
): Promise<Walked<Diff>> {
  const options = [...(withLines ? ["-M", "--numstat", "-p"] : ["-M100%"]), ...(sinceMergeBase ? ["--merge-base"] : [])];
  const args = [...ARGUMENTS, ...options, "--end-of-options", from, to];
  const child = await spawnWalkGit(directory, args, { config: CONFIG, maxMs });
  child.stdin.on("error", () => undefined).end();
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < 4_000) stderr += chunk.toString("utf8");
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  const reader = new DiffReader(withLines);
  let isWhole = true;
  let isInTime = true;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    if (reader.read(chunk)) continue;
    isWhole = false;
    break;
  }
  if (!isWhole) child.kill("SIGKILL");
  const status = await ended;
  if (isWhole && status !== 0) {
    if (/no merge base/.test(stderr)) return walkDiff(directory, from, to, { sinceMergeBase: false, withLines, maxMs });
    if (/bad object|unable to read|ambiguous argument/.test(stderr)) throw notFound("Revision");
    if (status !== null && !isOutOfMemory(stderr)) throw new GitFailed(args, status, stderr);
    isWhole = false;
    isInTime = false;
  }
  const value = reader.finish(isWhole);
  return { value, isWhole: isInTime, laterValue: withoutLines(value) };
}

const withoutLines = (diff: Diff): Diff => ({
  ...diff,
  files: diff.files.map((file) => ({ ...file, hunks: [], isCut: true })),
  isCut: true,
});

const nameLength = ({ path, oldPath }: DiffFile): number => path.length + (oldPath?.length ?? 0);

class DiffReader {
  readonly #splitter = new OutputSplitter();
  readonly #raw = new RawDiff();
  readonly #withLines: boolean;
  #patches: Patches | undefined;
  #size = 0;

  constructor(withLines: boolean) {
    this.#withLines = withLines;
  }

  read(chunk: Buffer): boolean {
    this.#size += chunk.length;
    for (const text of this.#splitter.split(chunk)) {
      if (this.#patches) this.#patches.push(text);
      else if (this.#raw.push(text)) {
        const names = this.#raw.files.reduce((sum, file) => sum + nameLength(file), 0);
        this.#patches = new Patches(this.#raw.files, {
          ...LIMITS,
          characters: LIMITS.characters - Math.min(names, NAMES_MAX_CHARACTERS),
        });
        this.#splitter.separator = 10;
      }
      if (this.#patches?.isFull) return false;
    }
    return this.#size < OUTPUT_MAX_BYTES;
  }

  finish(isWhole: boolean): Diff {
    const { files } = this.#raw;
    if (!isWhole && this.#withLines) (this.#patches ?? new Patches(files, LIMITS)).cutRest();
    let left = NAMES_MAX_CHARACTERS;
    const shown = files.slice(0, FILES_MAX).filter((file) => {
      left -= nameLength(file);
      return left >= 0;
    });
    const isCut =
      files.length > shown.length || (this.#withLines && files.some((file) => file.isCut)) || (!isWhole && !this.#patches);
    return {
      files: shown.filter(({ path }) => path !== ""),
      fileCount: files.length,
      additions: files.reduce((sum, file) => sum + file.additions, 0),
      deletions: files.reduce((sum, file) => sum + file.deletions, 0),
      isCut,
    };
  }
}

const PATCH_MAX_BYTES = 5 * 1024 * 1024;

/** @returns null if the patch is too large. Until the patch has been read, the request holds a slot (S137). */
export async function readPatch(
  directory: string,
  from: string,
  to: string,
  { sinceMergeBase = false }: Pick<DiffOptions, "sinceMergeBase"> = {},
): Promise<string | null> {
  await downloads.takeUntilAnswered({ within: directory });
  return patchBetween(directory, from, to, sinceMergeBase);
}

async function patchBetween(directory: string, from: string, to: string, sinceMergeBase: boolean): Promise<string | null> {
  const options = [
    "-r",
    "-p",
    "-M",
    "--no-ext-diff",
    "--no-textconv",
    "--full-index",
    ...(sinceMergeBase ? ["--merge-base"] : []),
  ];
  try {
    const args = ["diff-tree", ...options, "--end-of-options", from, to];
    return (await runWalk(directory, args, { maxBytes: PATCH_MAX_BYTES })).toString("utf8");
  } catch (error) {
    if (error instanceof TooMuchOutput) return null;
    if (!(error instanceof GitFailed)) throw error;
    if (/no merge base/.test(error.stderr)) return patchBetween(directory, from, to, false);
    if (/bad object|ambiguous argument/.test(error.stderr)) throw notFound("Revision");
    throw error;
  }
}
