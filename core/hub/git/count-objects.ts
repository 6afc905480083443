import { runGit } from "./run-git.ts";

/** What a repository has on disk; git's own count, which reads folders and no objects. */
export async function countObjects(path: string): Promise<{ loose: number; packs: number; bytes: number }> {
  const output = (await runGit(path, ["count-objects", "-v"])).toString("latin1");
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  return { loose: count("count"), packs: count("packs"), bytes: (count("size") + count("size-pack")) * 1024 };
}
