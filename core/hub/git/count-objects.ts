import { type Db, inTransaction } from "../../db.ts";
import { lockRepo } from "../repos/read-repos.ts";
import { countRefs } from "./refs/loose-refs.ts";
import { openRepository } from "./repository.ts";
import { type GitOptions, RanOutOfTime, runGit, UNDER_LOCK } from "./run-git.ts";

export async function countObjects(
  path: string,
  quarantine?: string,
  options: Pick<GitOptions, "timeoutMs"> = {},
): Promise<{ loose: number; packs: number; bytes: number }> {
  const env = quarantine === undefined ? {} : { env: { GIT_OBJECT_DIRECTORY: quarantine } };
  const output = (await runGit(path, ["count-objects", "-v"], { ...options, ...env })).toString("latin1");
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  return { loose: count("count"), packs: count("packs"), bytes: (count("size") + count("size-pack")) * 1024 };
}

/**
 * Call this with the row locked.
 * @returns `otherwise` if a busy disk does not answer in time
 */
export async function countBytes(path: string, otherwise: number): Promise<number> {
  try {
    const [objects, refs] = await Promise.all([countObjects(path, undefined, UNDER_LOCK), countRefs(path)]);
    return objects.bytes + refs.bytes;
  } catch (error) {
    if (error instanceof RanOutOfTime) return otherwise;
    throw error;
  }
}

/** Objects of failed changes count toward the owner's usage (decision 076). */
export async function recountRepository(repoId: string, tx?: Db): Promise<void> {
  if (!tx) return inTransaction((own) => recountRepository(repoId, own));
  const repo = await lockRepo(tx, repoId);
  if (!repo || repo.platformId) return;
  const bytes = await countBytes(await openRepository(repo), repo.sizeBytes);
  if (bytes !== repo.sizeBytes) await tx.repo.update({ where: { id: repoId }, data: { sizeBytes: bytes } });
}
