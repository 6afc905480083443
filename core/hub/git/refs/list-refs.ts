import { type GitOptions, gitLines, runGit } from "../run-git.ts";

/** How many refs a push may leave in one repository: with the longest names, their list fits into the output limit of `runGit`. */
export const REPOSITORY_REFS_MAX = 50_000;

/** All refs by their full names, with the commits or tag objects that they point to. @param prefix such as `refs/heads/` */
export async function listRefs(
  path: string,
  prefix = "refs/",
  options: Pick<GitOptions, "timeoutMs"> = {},
): Promise<Map<string, string>> {
  const output = await runGit(path, ["for-each-ref", "--format=%(objectname) %(refname)", "--", prefix], options);
  const lines = output.toString("utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}

/** The existing refs among these names, as above, and the number of all refs: for a repository that may have very many. */
export async function findRefs(
  path: string,
  names: ReadonlySet<string>,
  options: Pick<GitOptions, "timeoutMs"> = {},
): Promise<{ refs: Map<string, string>; total: number }> {
  const refs = new Map<string, string>();
  let total = 0;
  for await (const lines of gitLines(path, ["for-each-ref", "--format=%(objectname) %(refname)", "--", "refs/"], options)) {
    total += lines.length;
    for (const line of lines) if (names.has(line.slice(41))) refs.set(line.slice(41), line.slice(0, 40));
  }
  return { refs, total };
}
