import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { notFound } from "../../errors.ts";
import { changeRepo } from "./change-repo.ts";
import type { RepoName } from "./find-repo.ts";
import { removeRepos } from "./remove-repos.ts";

/**
 * Deletes a repository for good, with its discussions, its place in collections and the names that it had. Its name is free at once;
 * its data on disk goes a little later. A name that it had before does not do here: who deletes by it may mean another one.
 * @throws ServiceError as `changeRepo`
 */
export async function deleteRepo(actor: Actor, wanted: RepoName, from: RequestOrigin): Promise<void> {
  await changeRepo(actor, wanted, async (tx, repo) => {
    if (repo.fullName.toLowerCase() !== `${wanted.owner}/${wanted.name}`.toLowerCase()) throw notFound("Repository");
    await recordAuditEvent(tx, {
      type: "repo.delete",
      actorId: actorId(actor),
      orgId: repo.owner.kind === "organization" ? repo.owner.id : null,
      clientId: clientIdOf(actor),
      data: { repo: repo.fullName, type: repo.type, isPrivate: repo.isPrivate },
      from,
    });
    await removeRepos(tx, [repo], actorId(actor));
  });
}
