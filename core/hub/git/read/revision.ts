import { notFound } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import type { GitObjects } from "./git-objects.ts";

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
/** What git check-ref-format refuses, a leading dash, and thereby all of git's revision syntax: `^{}`, `@{…}`, `..`, `:path`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_A_REF = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|(^|\/)\.|[./]$|\.lock(\/|$)|^@$/;

export function isRevisionName(name: string): boolean {
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
  const found = await Promise.all(candidates.map(({ object }) => objects.commit(object)));
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
