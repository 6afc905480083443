import type { Actor, ActorNow } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { notFound } from "../../../errors.ts";
import type { RepoName } from "../../repos/find-repo.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { moveRefs } from "../refs/move-refs.ts";
import { isRefName } from "../refs/ref-name.ts";
import { isProtectedRef } from "../refs/require-changeable.ts";
import { resolveRef } from "../refs/resolve-ref.ts";
import { runGit } from "../run-git.ts";
import { commitMessage } from "./commit-message.ts";
import { inTurn } from "./in-turn.ts";
import { openForChange } from "./open-for-change.ts";
import { signatureOf } from "./signature.ts";
import { writeRootCommit } from "./write-objects.ts";

/**
 * Replaces the history of a branch by one commit with the same files. On the protected default branch it takes the right to lift that
 * protection, since it is what the protection is against.
 * @param actorNow resolves the actor again just before the refs change (S114)
 * @throws ServiceError `invalid_request` (message), `not_found` (RevisionNotFound), `conflict` (somebody committed meanwhile), `forbidden`,
 * `insufficient_scope`, `unauthorized`
 * @returns the commit
 */
export async function superSquash(
  actor: Actor,
  name: RepoName,
  { branch, message }: { branch: string; message?: string | undefined },
  actorNow: ActorNow = async () => actor,
): Promise<{ repo: Repo; sha: string }> {
  const { repo, path } = await openForChange(actor, name);
  if (!isRefName(branch)) throw notFound("Revision");
  const ref = `refs/heads/${branch}`;
  const ask = async (now: Actor, current: Repo) => {
    if (!isProtectedRef(current, ref)) return;
    await requirePermission(now, "repo.manage", repoResource(current), { what: "Repository" });
  };
  await ask(actor, repo);
  const text = commitMessage(message?.trim() || `Super-squash branch '${branch}'`);
  return inTurn(`${repo.id} ${ref}`, async () => {
    const oldSha = await resolveRef(path, ref);
    if (!oldSha) throw notFound("Revision");
    const tree = (await runGit(path, ["rev-parse", "--verify", "--end-of-options", `${oldSha}^{tree}`]))
      .toString("latin1")
      .trim();
    const sha = await writeRootCommit(path, { tree, message: text, signature: await signatureOf(actor) });
    const recorded = await moveRefs({ repo, path, actorNow, ask }, [{ ref, oldSha, newSha: sha }]);
    return { repo: recorded.repo, sha };
  });
}
