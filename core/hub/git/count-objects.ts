import { runGit } from "./run-git.ts";

/**
 * What a repository has on disk; git's own count, which reads folders and no objects.
 * @param quarantine counts what lies apart there instead
 */
export async function countObjects(path: string, quarantine?: string): Promise<{ loose: number; packs: number; bytes: number }> {
  const options = quarantine === undefined ? {} : { env: { GIT_OBJECT_DIRECTORY: quarantine } };
  const output = (await runGit(path, ["count-objects", "-v"], options)).toString("latin1");
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  return { loose: count("count"), packs: count("packs"), bytes: (count("size") + count("size-pack")) * 1024 };
}
