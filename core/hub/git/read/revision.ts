import { setTimeout as delay } from "node:timers/promises";
import { notFound } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import type { GitObjects } from "./git-objects.ts";
import { runWalkGit, walker } from "./walk.ts";

/** A branch, a tag, a pull request's ref or a commit as a request names it, resolved. */
export type Revision = {
  /** The requested name. */
  name: string;
  /** The full name of the ref; null if the request named a commit. */
  ref: string | null;
  /** The commit; null for a branch without commits. */
  sha: string | null;
};

const NAME_MAX_CHARACTERS = 300;
const FULL_SHA = /^[0-9a-f]{40}$/;
const ABBREVIATED_SHA = /^[0-9a-f]{7,39}$/i;
/** Other refs of a repository are internal (S137). */
const VISIBLE_REF = /^refs\/(heads|tags|pr|convert)\/./;
/** Names that git check-ref-format refuses or that begin with a dash. This excludes git's revision syntax: `^{}`, `@{…}`, `..`, `:path`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const NOT_A_REF = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|(^|\/)\.|[./]$|\.lock(\/|$)|^@$/;

/**
 * If no ref has such a name, git reads it as an output of `git describe`: any commit of the repository would be shown as if a ref led to it
 * (S137).
 */
const LIKE_DESCRIBED = /-g[0-9a-f]{4,}$/i;

function isRevisionName(name: string): boolean {
  return name !== "" && name.length <= NAME_MAX_CHARACTERS && name.isWellFormed() && !NOT_A_REF.test(name);
}

/**
 * Resolves a revision of a request: `main`, `a/branch`, `v1.0`, `refs/pr/3`, `HEAD` (the default branch), a full or abbreviated commit.
 * The default branch of a repository without commits is not an error: `sha` is null.
 * @throws ServiceError `not_found` (RevisionNotFound), also for everything else that git would understand
 */
export async function resolveRevision(
  objects: GitObjects,
  { defaultBranch }: Pick<Repo, "defaultBranch">,
  name: string,
): Promise<Revision> {
  if (!isRevisionName(name)) throw notFound("Revision");
  const candidates = candidatesFor(name, defaultBranch);
  const found = await Promise.all(
    candidates.map(async ({ ref, object }) =>
      ref !== null && LIKE_DESCRIBED.test(ref) && !(await objects.hasRef(ref)) ? undefined : objects.commit(object),
    ),
  );
  const at = found.findIndex((one) => one !== undefined);
  const sha = found[at]?.oid;
  if (sha) return { name, ref: candidates[at]?.ref ?? null, sha };
  const unborn = `refs/heads/${defaultBranch}`;
  if (candidates.some(({ ref }) => ref === unborn)) return { name, ref: unborn, sha: null };
  throw notFound("Revision");
}

type Candidate = { ref: string | null; object: string };

/** The likeliest first: a ref comes before an abbreviated commit, and a full commit before a ref that looks like one. */
function candidatesFor(name: string, defaultBranch: string): Candidate[] {
  const byRef = (ref: string): Candidate => ({ ref, object: ref });
  if (name === "HEAD") return [byRef(`refs/heads/${defaultBranch}`)];
  const asCommit: Candidate = { ref: null, object: name };
  const asRefs = [...(VISIBLE_REF.test(name) ? [byRef(name)] : []), byRef(`refs/heads/${name}`), byRef(`refs/tags/${name}`)];
  if (FULL_SHA.test(name)) return [asCommit, ...asRefs];
  return ABBREVIATED_SHA.test(name) ? [...asRefs, asCommit] : asRefs;
}

/**
 * Splits the part of a URL after `tree/` or `resolve/` into a revision and a path. Clients that do not encode full refs (`refs/pr/3`) send
 * their slashes unchanged; a slash in a branch's name is always `%2F`.
 * @param segments decoded
 */
export function splitRevision([first = "", ...rest]: readonly string[]): { revision: string; path: string } {
  const isRef = first === "refs" && rest.length >= 2 && ["heads", "tags", "pr", "convert"].includes(rest[0] ?? "");
  const [revision, path] = isRef ? [[first, ...rest.slice(0, 2)].join("/"), rest.slice(2)] : [first, rest];
  return { revision, path: path.join("/").replace(/\/$/, "") };
}

/** Reading waits no longer than this for the answer, which is only a notice. */
const ON_BRANCH_WAIT_MS = 2_000;

const decideOnce = walker<boolean>({ max: 10_000 });

/**
 * Whether a commit that was requested by its SHA is on a branch or tag of the repository. Anybody may open a pull request, so a stranger
 * can have a commit served under the owner's name by its SHA. Clients rely on reading it that way, but people who follow such a URL must
 * be told.
 *
 * A URL that names a ref shows the source, so the answer for a ref is yes. The answer is also yes if git does not find out in time: this is
 * only a notice, and reading does not depend on it.
 */
export async function isOnBranch(
  repo: Pick<Repo, "id" | "defaultBranch" | "platformId" | "headSha" | "sizeBytes" | "updatedAt">,
  { ref, sha }: Pick<Revision, "ref" | "sha">,
): Promise<boolean> {
  if (ref !== null || sha === null || sha === repo.headSha) return true;
  const directory = await openRepository(repo);
  const walk = async () => {
    const args = ["rev-list", "--max-count=1", sha, "--not", "--branches", "--tags", "--glob=refs/convert"];
    return { value: (await runWalkGit(directory, args)).length === 0, isWhole: true };
  };
  const over = new AbortController();
  // Refs do not change without `updatedAt`, so the result stays valid until that changes.
  const found = decideOnce({ directory, of: [sha, repo.updatedAt.toISOString()], walk }).catch(() => true);
  try {
    return await Promise.race([found, delay(ON_BRANCH_WAIT_MS, true, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}
