import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { recordEvents } from "../../events/record-event.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { findRepo, type RepoName } from "./find-repo.ts";
import { lockRepo } from "./read-repos.ts";
import { removeContributions } from "./remove-contributions.ts";
import { type Repo, repoPayload, repoResource } from "./repo.ts";

/**
 * A former name is refused, because it could mean another repository. Most discussions and files are deleted before the final
 * transaction, for which they may be too many. Another attempt continues an interrupted one.
 */
export async function deleteRepo(actor: Actor, wanted: RepoName, from: RequestOrigin): Promise<void> {
  const requireThisName = ({ fullName }: Repo) => {
    if (fullName.toLowerCase() !== `${wanted.owner}/${wanted.name}`.toLowerCase()) throw notFound("Repository");
  };
  const id = await changeRepo(actor, wanted, async (_, repo) => {
    requireThisName(repo);
    return repo.id;
  });
  await removeContributions(Prisma.sql`r.id = ${id}`);
  await changeRepo(actor, wanted, async (tx, repo) => {
    requireThisName(repo);
    await recordAuditEvent(tx, {
      type: "repo.delete",
      actor,
      owner: repo.owner,
      data: { repo: repo.fullName, type: repo.type, isPrivate: repo.isPrivate },
      from,
    });
    await removeRepos(tx, [repo], actorId(actor));
  });
}

/** Checks no permissions. */
export async function removeRepos(tx: Db, repos: readonly Repo[], actorId: string | null): Promise<void> {
  await recordEvents(
    tx,
    repos.map((repo) => ({ payload: { event: { scope: "repo", action: "delete" }, repo: repoPayload(repo) }, actorId })),
  );
  const onDisk = repos.filter(({ platformId }) => platformId === null);
  await tx.repoRemoval.createMany({ data: onDisk.map(({ id }) => ({ repoId: id })), skipDuplicates: true });
  await tx.repo.deleteMany({ where: { id: { in: repos.map(({ id }) => id) } } });
}

/** Checks the permission under the lock, because the repository may have been moved or made private (S135). */
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
    if (repo.platformId && actor.kind !== "command")
      throw conflict("This repository is hosted on another platform. Change it there.");
    return change(tx, repo);
  });
}
