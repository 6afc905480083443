import { runGit } from "../run-git.ts";

/** All refs, by their full names: the commits or tag objects that they stand for. @param prefix such as `refs/heads/` */
export async function listRefs(path: string, prefix = "refs/"): Promise<Map<string, string>> {
  const output = await runGit(path, ["for-each-ref", "--format=%(objectname) %(refname)", "--", prefix]);
  const lines = output.toString("utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}
