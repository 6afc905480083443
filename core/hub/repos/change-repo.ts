import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, inTransaction } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { findRepo, type RepoName } from "./find-repo.ts";
import { lockRepo } from "./read-repos.ts";
import { type Repo, repoResource } from "./repo.ts";

/**
 * Lets one caller at a time change a repository, with its row as it is once the others are done: it may have been moved, closed or
 * deleted while this one waited, so that the right is asked for again (S135).
 * @throws ServiceError `not_found`, `forbidden`, `insufficient_scope`, `unauthorized`; `conflict` for a repository that a platform
 * beside us holds
 */
export async function changeRepo<T>(
  actor: Actor,
  wanted: RepoName,
  change: (tx: Db, repo: Repo) => Promise<T>,
  prepare?: (tx: Db) => Promise<void>,
): Promise<T> {
  const { id } = await findRepo(actor, wanted, "repo.manage");
  return inTransaction(async (tx) => {
    await prepare?.(tx);
    const repo = await lockRepo(tx, id);
    if (!repo) throw notFound("Repository");
    await requirePermission(actor, "repo.manage", repoResource(repo), { what: "Repository", tx });
    if (repo.platformId && actor.kind !== "command") {
      throw new ServiceError("conflict", "This repository is kept elsewhere. Change it there.");
    }
    return change(tx, repo);
  });
}
