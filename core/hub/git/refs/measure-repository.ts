import { runGit } from "../run-git.ts";

/** How much the git data of a repository takes on disk, in bytes: what git's own count says, which reads folders and no objects. */
export async function measureRepository(path: string): Promise<number> {
  const output = (await runGit(path, ["count-objects", "-v"])).toString("latin1");
  const kibibytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  return (kibibytes("size") + kibibytes("size-pack")) * 1024;
}
