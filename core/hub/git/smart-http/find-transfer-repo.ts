import { type Actor, actorId } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { db } from "../../../db.ts";
import { isServiceError } from "../../../errors.ts";
import { findRepo, type RepoName } from "../../repos/find-repo.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import type { GitService } from "./transfer-request.ts";

/**
 * Finds the repository of a fetch or a push. The author of an open pull request may push to it without being able to change anything else
 * in the repository: refuse-commands.ts decides ref by ref.
 * @throws ServiceError as `findRepo` does
 */
export async function findTransferRepo(actor: Actor, name: RepoName, service: GitService): Promise<Repo> {
  if (service === "upload-pack") return findRepo(actor, name, "repo.read_content");
  try {
    return await findRepo(actor, name, "repo.write");
  } catch (error) {
    if (!isServiceError(error) || error.code !== "forbidden") throw error;
    const repo = await findRepo(actor, name, "repo.read_content");
    if (!(await hasPullRequest(actor, repo))) throw error;
    await requirePermission(actor, "discussion.write", repoResource(repo), { what: "Repository" });
    return repo;
  }
}

async function hasPullRequest(actor: Actor, { id }: Repo): Promise<boolean> {
  const authorId = actorId(actor);
  if (!authorId) return false;
  const where = { repoId: id, authorId, isPullRequest: true, status: { in: ["draft", "open"] } };
  return (await db().discussion.findFirst({ where, select: { id: true } })) !== null;
}
