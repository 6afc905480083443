import { type Actor, actorId } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { changeRuntime, type SpaceName } from "./change-runtime.ts";

/**
 * Restarts a Space from its latest commit, whatever its stage: running, failed, or paused. An organization's Space then counts against the
 * user who restarted it (SPACE_PARTY).
 * @throws ServiceError as `changeRuntime`
 */
export function restartSpace(actor: Actor, name: SpaceName, from: RequestOrigin) {
  return changeRuntime(
    actor,
    name,
    {
      type: "space.restart",
      change: (tx, { id, owner }) => tx.$executeRaw`
        UPDATE space_runtime SET generation = generation + 1, is_wanted = true, stage = 'APP_STARTING', message = NULL, restarts = 0,
          awaited_at = NULL, due_at = now(), updated_at = now(),
          started_by_id = CASE WHEN ${owner.kind === "organization"} THEN coalesce(${actorId(actor)}, started_by_id) END WHERE repo_id = ${id}`,
    },
    from,
  );
}
