import type { ActorNow } from "../../../access/actor.ts";
import { requirePermission } from "../../../access/may.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { changeRefs } from "./change-refs.ts";
import type { Recorded } from "./record-ref-changes.ts";
import type { RefChange } from "./ref-change.ts";
import { type Ask, askAgain, requireChangeable } from "./require-changeable.ts";
import { updateRefs } from "./update-refs.ts";

export type Moving = {
  repo: Repo;
  path: string;
  actorNow: ActorNow;
  /** What this change takes besides the right to write. */
  ask?: Ask;
};

/**
 * Points refs to existing commits, all of them or none, as one event.
 * @throws ServiceError `conflict` when one of them is no longer at `oldSha`; `not_found` when the repository was deleted; `forbidden`
 * and the like when the actor may no longer write to it
 */
export async function moveRefs({ repo, path, actorNow, ask }: Moving, changes: readonly RefChange[]): Promise<Recorded> {
  const actor = await askAgain(repo, actorNow, async (now, current) => {
    await requirePermission(now, "repo.write", repoResource(current), { what: "Repository" });
    requireChangeable(current);
    await ask?.(now, current);
  });
  let isMoved = false;
  const recorded = await changeRefs(repo, actor, changes, async () => {
    const changed = await updateRefs(path, changes);
    isMoved = changed.length === 0;
    return changed;
  });
  if (recorded) return recorded;
  if (!isMoved) throw notFound("Repository");
  throw new ServiceError("conflict", `Somebody else has just changed ${changes.map(({ ref }) => shortName(ref)).join(", ")}.`);
}

/** `main` of `refs/heads/main`. */
const shortName = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, "");
