import type { Actor } from "../../../access/actor.ts";
import { may } from "../../../access/may.ts";
import { ServiceError } from "../../../errors.ts";
import { requireRoom } from "../../../storage/hold-storage.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import { repoResource } from "../../repos/repo.ts";
import { findPaths, PATHS_MAX } from "../read/find-paths.ts";
import { runWalkGit, walker } from "../read/walk.ts";
import { resolveRef } from "../refs/resolve-ref.ts";
import { openRepository } from "../repository.ts";
import { GitFailed, RanOutOfTime } from "../run-git.ts";
import { resolveCommitTarget } from "./commit-target.ts";
import { findIgnoredPaths } from "./ignored-paths.ts";
import { type Filter, readLfsFilters, usualLfsPattern } from "./lfs-paths.ts";
import { fileMaxBytes } from "./operation.ts";
import { parsePath } from "./parse-path.ts";
import { openQuarantine } from "./quarantine.ts";

export type FileToUpload = {
  path: string;
  sizeBytes: number;
  /** Its first bytes. */
  sample?: Uint8Array | undefined;
};

export type UploadPlan = {
  /** As it was given. */
  path: string;
  /** Whether it goes into the commit itself or to Git LFS first. */
  mode: "regular" | "lfs";
  /** Whether .gitignore leaves it out. */
  isIgnored: boolean;
  /** What is there now: the blob, or of a file in Git LFS the SHA-256 of its content. Not there: undefined. */
  oid: string | undefined;
};

export type UploadQuestion = {
  revision: string;
  isPullRequest?: boolean;
  files: readonly FileToUpload[];
  /** The .gitattributes and .gitignore at the root that are about to be committed. */
  gitAttributes?: string | undefined;
  gitIgnore?: string | undefined;
};

/** Binary files above this are never merged line by line, whatever they are called. */
const BINARY_MAX_BYTES = 1024 * 1024;
/** Of a .gitignore or a .gitattributes. */
const PATTERNS_MAX_BYTES = 1024 * 1024;
const STARS_MAX = 10;
/** Each star can multiply the time that git takes to match a path, so that no limit on their number is enough: each command has a deadline too. */
const MATCHING_MAX_MS = 5_000;

/**
 * How each of some files is to be sent, before a commit of them.
 * @throws ServiceError as createCommit for who may, the branch and the paths; `payload_too_large` for too many files at once, or in too
 * large folders; `storage_full` for new files when no room is left at all. What they need is not known yet: their content may be there under
 * other names. `invalid_request` for patterns that would take git too long, and `unavailable` where they did.
 */
export async function planUpload(actor: Actor, name: RepoName, question: UploadQuestion): Promise<UploadPlan[]> {
  const { revision, isPullRequest = false, files, gitAttributes, gitIgnore } = question;
  const repo = await findRepo(actor, name);
  const directory = await openRepository(repo);
  const ref = await resolveCommitTarget(actor, repo, directory, { revision, isPullRequest });
  if (files.length > PATHS_MAX) throw new ServiceError("payload_too_large", `Ask for at most ${PATHS_MAX} files at once.`);
  requireModest("gitAttributes", gitAttributes);
  requireModest("gitIgnore", gitIgnore);
  const paths = files.map(({ path }) => parsePath(path));
  const commit = await resolveRef(directory, ref);
  const entries = commit ? await findPaths(repo, { revision: commit, paths }) : [];
  const present = new Map(entries.map(({ path, oid, lfs }) => [path, lfs?.oid ?? oid]));
  const { filters, ignored } = await matchOnce(directory, { commit, paths, gitAttributes, gitIgnore });
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

/** Has a place among walks, and is refused at once where it ran out of time lately (S137). */
async function matchOnce(directory: string, patterns: Patterns): Promise<Matched> {
  const walk = async () => ({ value: await match(directory, patterns), isWhole: true });
  try {
    return await matching({ directory, of: [JSON.stringify(patterns)], walk });
  } catch (error) {
    if (!(error instanceof RanOutOfTime)) throw error;
    const sentence =
      "Git takes too long to match these paths with .gitignore and .gitattributes. Use fewer stars there, or ask for fewer files at once.";
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

/** What is in the repository already may be anything: only the deadline stops that. */
function requireModest(field: "gitAttributes" | "gitIgnore", text: string | undefined): void {
  if (text === undefined) return;
  const name = field === "gitIgnore" ? ".gitignore" : ".gitattributes";
  if (Buffer.byteLength(text) > PATTERNS_MAX_BYTES) {
    throw new ServiceError("invalid_request", `The ${name} is larger than 1 MiB: use fewer lines.`, { field });
  }
  const at = text.split("\n").findIndex((line) => !/^\s*#/.test(line) && starsIn(line) > STARS_MAX);
  if (at < 0) return;
  const sentence = `Line ${at + 1} of the ${name} has more than ${STARS_MAX} stars, which takes git too long to match. Use fewer.`;
  throw new ServiceError("invalid_request", sentence, { field });
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
  // A pointer to nothing says no more than nothing does.
  if (sizeBytes === 0) return "regular";
  if (sizeBytes > fileMaxBytes() || filter === "lfs") return "lfs";
  if (filter === "none") return "regular";
  const isLargeBinary = sizeBytes > BINARY_MAX_BYTES && sample !== undefined && sample.includes(0);
  return isLargeBinary || usualLfsPattern(path) ? "lfs" : "regular";
}
