import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Actor } from "../../../access/actor.ts";
import { may } from "../../../access/may.ts";
import { invalidRequest, ServiceError } from "../../../errors.ts";
import { requireRoom } from "../../../storage/hold-storage.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import { repoResource } from "../../repos/repo.ts";
import { findPaths, PATHS_MAX } from "../read/list-tree.ts";
import { runWalkGit, walker } from "../read/walk.ts";
import { resolveRef } from "../refs/git-refs.ts";
import { openRepository } from "../repository.ts";
import { GitFailed, RanOutOfTime } from "../run-git.ts";
import { resolveCommitTarget } from "./change-target.ts";
import { fileMaxBytes } from "./collect-changes.ts";
import { type Filter, readLfsFilters, usualLfsPattern } from "./lfs-attributes.ts";
import { parsePath } from "./parse-path.ts";
import { openQuarantine } from "./quarantine.ts";

type FileToUpload = {
  path: string;
  sizeBytes: number;
  sample?: Uint8Array | undefined;
};

type UploadPlan = {
  path: string;
  mode: "regular" | "lfs";
  isIgnored: boolean;
  /** The blob's ID, or the SHA-256 of a file in Git LFS. Undefined if there is no file. */
  oid: string | undefined;
};

export type UploadQuestion = {
  revision: string;
  isPullRequest?: boolean;
  files: readonly FileToUpload[];
  gitAttributes?: string | undefined;
  gitIgnore?: string | undefined;
};

const BINARY_MAX_BYTES = 1024 * 1024;
const PATTERNS_MAX_BYTES = 1024 * 1024;
const STARS_MAX = 10;
/** Each `*` can multiply the time for matching a path, so a limit on the number of `*` would not be enough. */
const MATCHING_MAX_MS = 5_000;

/** @throws ServiceError `storage_full` if there are new files and no storage is free */
export async function planUpload(actor: Actor, name: RepoName, question: UploadQuestion): Promise<UploadPlan[]> {
  const { revision, isPullRequest = false, files, gitAttributes, gitIgnore } = question;
  const repo = await findRepo(actor, name);
  const directory = await openRepository(repo);
  const ref = await resolveCommitTarget(actor, repo, directory, { revision, isPullRequest });
  if (files.length > PATHS_MAX)
    throw new ServiceError("payload_too_large", `Request at most ${PATHS_MAX.toLocaleString("en")} files at once.`);
  requireCheapPatterns("gitAttributes", gitAttributes);
  requireCheapPatterns("gitIgnore", gitIgnore);
  const paths = files.map(({ path }) => parsePath(path));
  const commit = await resolveRef(directory, ref);
  const entries = commit ? await findPaths(repo, { revision: commit, paths }) : [];
  const present = new Map(entries.map(({ path, oid, lfs }) => [path, lfs?.oid ?? oid]));
  // Otherwise the plan would tell what the .gitattributes and .gitignore of a gated repository contain (S135).
  const patternsAt = (await may(actor, "repo.read_content", repoResource(repo))) ? commit : null;
  const { filters, ignored } = await matchOnce(directory, { commit: patternsAt, paths, gitAttributes, gitIgnore });
  const plans = files.map((file, index) => {
    const path = paths[index] as string;
    return { path: file.path, mode: modeOf(file, filters.get(path)), isIgnored: ignored.has(path), oid: present.get(path) };
  });
  if (plans.some(({ isIgnored, oid }) => !isIgnored && oid === undefined)) {
    const isOutsider = !(await may(actor, "repo.write", repoResource(repo)));
    await requireRoom(repo.owner, 1, "new files", { isOutsider });
  }
  return plans;
}

type Patterns = Pick<UploadQuestion, "gitAttributes" | "gitIgnore"> & { commit: string | null; paths: readonly string[] };
type Matched = { filters: ReadonlyMap<string, Filter>; ignored: ReadonlySet<string> };

const matching = walker<Matched>({ max: 1_000, keepsWhole: false });

/** A match that recently ran out of time fails at once (S137). */
async function matchOnce(directory: string, patterns: Patterns): Promise<Matched> {
  const walk = async () => ({ value: await match(directory, patterns), isWhole: true });
  try {
    return await matching({ directory, of: [JSON.stringify(patterns)], walk });
  } catch (error) {
    if (!(error instanceof RanOutOfTime)) throw error;
    const sentence =
      "Git takes too long to match these paths with .gitignore and .gitattributes. Use fewer wildcards (*) there, or request fewer files at once.";
    throw new ServiceError("unavailable", sentence, { cause: error, retryAfterSeconds: 60 });
  }
}

async function match(directory: string, { commit, paths, gitAttributes, gitIgnore }: Patterns): Promise<Matched> {
  const quarantine = await openQuarantine(directory);
  try {
    const rootAttributes = gitAttributes === undefined ? undefined : Buffer.from(gitAttributes);
    const filters = await readLfsFilters(quarantine.path, paths, { commit, rootAttributes, maxMs: MATCHING_MAX_MS });
    const ignoring = gitIgnore ?? (await readGitIgnore(directory, commit));
    if (ignoring === "") return { filters, ignored: new Set() };
    const ignored = await findIgnoredPaths(quarantine.path, paths, { gitIgnore: ignoring, maxMs: MATCHING_MAX_MS });
    return { filters, ignored };
  } finally {
    await quarantine.discard();
  }
}

/** Checks the patterns of a request. The deadline stops expensive patterns of the repository. */
function requireCheapPatterns(field: "gitAttributes" | "gitIgnore", text: string | undefined): void {
  if (text === undefined) return;
  const name = field === "gitIgnore" ? ".gitignore" : ".gitattributes";
  if (Buffer.byteLength(text) > PATTERNS_MAX_BYTES) {
    throw invalidRequest(`The ${name} is larger than 1 MiB: use fewer lines.`, field);
  }
  const at = text.split("\n").findIndex((line) => !/^\s*#/.test(line) && starsIn(line) > STARS_MAX);
  if (at < 0) return;
  const sentence = `Line ${at + 1} of the ${name} has more than ${STARS_MAX} wildcards (*), which take git too long to match. Use fewer.`;
  throw invalidRequest(sentence, field);
}

const starsIn = (line: string): number => line.replace(/\\./g, "").split("*").length - 1;

async function readGitIgnore(directory: string, commit: string | null): Promise<string> {
  if (!commit) return "";
  try {
    const options = { maxBytes: PATTERNS_MAX_BYTES, timeoutMs: MATCHING_MAX_MS };
    return (await runWalkGit(directory, ["cat-file", "blob", `${commit}:.gitignore`], options)).toString("utf8");
  } catch (error) {
    if (error instanceof GitFailed) return "";
    throw error;
  }
}

function modeOf({ path, sizeBytes, sample }: FileToUpload, filter: Filter): UploadPlan["mode"] {
  // Git LFS stores an empty file in git.
  if (sizeBytes === 0) return "regular";
  if (sizeBytes > fileMaxBytes() || filter === "lfs") return "lfs";
  if (filter === "none") return "regular";
  const isLargeBinary = sizeBytes > BINARY_MAX_BYTES && sample !== undefined && sample.includes(0);
  return isLargeBinary || usualLfsPattern(path) ? "lfs" : "regular";
}

/** Call this with a slot for walks: a short line can keep git busy for hours (S137). `gitDirectory` is a quarantine. */
async function findIgnoredPaths(
  gitDirectory: string,
  paths: readonly string[],
  { gitIgnore, maxMs }: { gitIgnore: string; maxMs: number },
): Promise<ReadonlySet<string>> {
  // Git requires a work tree. In an empty one, no path is an existing folder.
  const workTree = join(gitDirectory, "work-tree");
  await Promise.all([mkdir(workTree), mkdir(join(gitDirectory, "info"), { recursive: true })]);
  await writeFile(join(gitDirectory, "info", "exclude"), gitIgnore);
  try {
    const output = await runWalkGit(gitDirectory, ["-c", "core.bare=false", "check-ignore", "--no-index", "-z", "--stdin"], {
      input: paths.map((path) => `${path}\0`).join(""),
      env: { GIT_WORK_TREE: workTree },
      timeoutMs: maxMs,
    });
    return new Set(output.toString("utf8").split("\0").filter(Boolean));
  } catch (error) {
    // Git exits with 1 if it ignores no path.
    if (error instanceof GitFailed && error.status === 1) return new Set();
    throw error;
  }
}
