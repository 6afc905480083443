import { notFound } from "../../../errors.ts";
import type { Repo } from "../../repos/repo.ts";
import type { GitObjects } from "./git-objects.ts";

/** A branch, a tag, a pull request's ref or a commit, as somebody outside names it, and what it stands for. */
export type Revision = {
  /** As it was asked for. */
  name: string;
  /** The full name of the ref; null for a commit's own name. */
  ref: string | null;
  /** The commit; null on a branch that has none yet. */
  sha: string | null;
};

const NAME_MAX_CHARACTERS = 300;
const FULL_SHA = /^[0-9a-f]{40}$/;
const ABBREVIATED_SHA = /^[0-9a-f]{7,39}$/i;
/** Other refs of a repository are its own business (S137). */
const VISIBLE_REF = /^refs\/(heads|tags|pr|convert)\/./;
/** What git check-ref-format refuses, a leading dash, and with it all of git's revision syntax: `^{}`, `@{…}`, `..`, `:path`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_A_REF = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|(^|\/)\.|[./]$|\.lock(\/|$)|^@$/;

export function isRevisionName(name: string): boolean {
  return name !== "" && name.length <= NAME_MAX_CHARACTERS && name.isWellFormed() && !NOT_A_REF.test(name);
}

/**
 * What a revision from outside stands for: `main`, `a/branch`, `v1.0`, `refs/pr/3`, `HEAD` (the default branch), a commit in full or
 * abbreviated. The default branch of a repository without commits is no error: `sha` is null.
 * @throws ServiceError `not_found` (RevisionNotFound), for whatever else git would understand too
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

/** The likeliest first: a ref goes before an abbreviated commit, and a whole commit before a ref that looks like one. */
function candidatesFor(name: string, defaultBranch: string): Candidate[] {
  const byRef = (ref: string): Candidate => ({ ref, object: ref });
  if (name === "HEAD") return [byRef(`refs/heads/${defaultBranch}`)];
  const asCommit: Candidate = { ref: null, object: name };
  const asRefs = [...(VISIBLE_REF.test(name) ? [byRef(name)] : []), byRef(`refs/heads/${name}`), byRef(`refs/tags/${name}`)];
  if (FULL_SHA.test(name)) return [asCommit, ...asRefs];
  return ABBREVIATED_SHA.test(name) ? [...asRefs, asCommit] : asRefs;
}
