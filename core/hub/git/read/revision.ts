import { setTimeout as delay } from "node:timers/promises";
import { notFound } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import { openRepository } from "../repository.ts";
import type { GitObjects } from "./git-objects.ts";
import { runWalkGit, walker } from "./walk.ts";

export type Revision = {
  name: string;
  ref: string | null;
  sha: string | null;
};

const NAME_MAX_CHARACTERS = 300;
const FULL_SHA = /^[0-9a-f]{40}$/;
const ABBREVIATED_SHA = /^[0-9a-f]{7,39}$/i;
/** S137: all other refs are internal. */
const VISIBLE_REF = /^refs\/(heads|tags|pr|convert)\/./;
/** Matches git's revision syntax: `^{}`, `@{…}`, `..`, `:path`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const NOT_A_REF = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|(^|\/)\.|[./]$|\.lock(\/|$)|^@$/;

/** S137: git would read this as the output of `git describe`, and might find any commit. */
const LIKE_DESCRIBED = /-g[0-9a-f]{4,}$/i;

function isRevisionName(name: string): boolean {
  return name !== "" && name.length <= NAME_MAX_CHARACTERS && name.isWellFormed() && !NOT_A_REF.test(name);
}

/** @returns a null `sha` for the default branch of a repository without commits */
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

/** A full commit comes before a ref of the same name, and a ref before an abbreviated commit. */
function candidatesFor(name: string, defaultBranch: string): Candidate[] {
  const byRef = (ref: string): Candidate => ({ ref, object: ref });
  if (name === "HEAD") return [byRef(`refs/heads/${defaultBranch}`)];
  const asCommit: Candidate = { ref: null, object: name };
  const asRefs = [...(VISIBLE_REF.test(name) ? [byRef(name)] : []), byRef(`refs/heads/${name}`), byRef(`refs/tags/${name}`)];
  if (FULL_SHA.test(name)) return [asCommit, ...asRefs];
  return ABBREVIATED_SHA.test(name) ? [...asRefs, asCommit] : asRefs;
}

/** Some clients send the slashes of full refs unencoded. In the name of a branch, they encode each as `%2F`. */
export function splitRevision([first = "", ...rest]: readonly string[]): { revision: string; path: string } {
  const isRef = first === "refs" && rest.length >= 2 && ["heads", "tags", "pr", "convert"].includes(rest[0] ?? "");
  const [revision, path] = isRef ? [[first, ...rest.slice(0, 2)].join("/"), rest.slice(2)] : [first, rest];
  return { revision, path: path.join("/").replace(/\/$/, "") };
}

const ON_BRANCH_WAIT_MS = 2_000;

const decideOnce = walker<boolean>({ max: 10_000 });

/**
 * Readers get a notice if this is false: by opening a pull request, anybody can have a commit served under the owner's name.
 * @returns true if git does not answer in time
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
  const found = decideOnce({ directory, of: [sha, repo.updatedAt.toISOString()], walk }).catch(() => true);
  try {
    return await Promise.race([found, delay(ON_BRANCH_WAIT_MS, true, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}
