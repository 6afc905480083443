import { type Actor, actorId } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { changeRuntime, type SpaceName } from "./change-runtime.ts";

/**
 * Starts a Space anew, whatever its stage, from its latest commit: one that runs, one that has failed, and one that was paused. An
 * organization's counts against whoever does so from now on (SPACE_PARTY).
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
