import type { Actor } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { readSpaceConfig } from "../space-config.ts";
import { changeRuntime, type SpaceName } from "./change-runtime.ts";

/**
 * Stops a Space until it is restarted: neither a request nor a push wakes it.
 * @throws ServiceError `invalid_request` for one that only shows files; and as `changeRuntime`
 */
export function pauseSpace(actor: Actor, name: SpaceName, from: RequestOrigin) {
  return changeRuntime(
    actor,
    name,
    {
      type: "space.pause",
      change: (tx, repo) => {
        if (readSpaceConfig(repo).kind === "static")
          throw new ServiceError("invalid_request", "Nothing of a static Space runs that could be paused.");
        return tx.$executeRaw`
          UPDATE space_runtime SET is_wanted = false, stage = 'PAUSED', message = NULL, address = NULL, updated_at = now()
          WHERE repo_id = ${repo.id}`;
      },
    },
    from,
  );
}
