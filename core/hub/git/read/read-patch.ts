import { notFound } from "../../../errors.ts";
import { GitFailed, TooMuchOutput } from "../run-git.ts";
import type { DiffOptions } from "./read-diff.ts";
import { runWalk } from "./walk.ts";

const PATCH_MAX_BYTES = 5 * 1024 * 1024;

/**
 * The difference between two commits as `git diff` prints it, for programs; null when it is too large to send.
 * @throws ServiceError `not_found` (RevisionNotFound)
 */
export async function readPatch(
  directory: string,
  from: string,
  to: string,
  { sinceMergeBase = false }: Pick<DiffOptions, "sinceMergeBase"> = {},
): Promise<string | null> {
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
    if (/no merge base/.test(error.stderr)) return readPatch(directory, from, to);
    if (/bad object|ambiguous argument/.test(error.stderr)) throw notFound("Revision");
    throw error;
  }
}
