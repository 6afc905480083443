import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { RepoAction } from "../repos/find-repo.ts";
import { lockRepo } from "../repos/read-repos.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { requireGate } from "./access-request.ts";

/**
 * Serializes decisions about access to a repository, with its row as it is then: while this caller waited, the gate or the right to
 * decide may have been removed (S135).
 * @throws ServiceError `not_found`, `forbidden`, `unauthorized`, `insufficient_scope`; `invalid_request` without a gate
 */
export async function changeGate<T>(
  actor: Actor,
  { id }: Pick<Repo, "id">,
  action: RepoAction,
  change: (tx: Db, repo: Repo) => Promise<T>,
): Promise<T> {
  return db().$transaction(async (tx) => {
    const repo = await lockRepo(tx, id);
    if (!repo) throw notFound("Repository");
    await requirePermission(actor, action, repoResource(repo), { what: "Repository", tx });
    requireGate(repo);
    return change(tx, repo);
  });
}
