import type { Actor } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { SLEEP_AFTER_MIN_SECONDS, SLEEP_AFTER_SECONDS } from "../stages.ts";
import { changeRuntime, type SpaceName } from "./change-runtime.ts";

/**
 * Sets after how long without a request a Space sleeps.
 * @throws ServiceError `invalid_request` for less than a minute or more than the free flavor's 48 hours
 * (docs/specification/jobs-and-spaces.md#spaces); and as `changeRuntime`
 */
export function setSleepTime(actor: Actor, name: SpaceName, seconds: number, from: RequestOrigin) {
  if (!Number.isInteger(seconds) || seconds < SLEEP_AFTER_MIN_SECONDS || seconds > SLEEP_AFTER_SECONDS) {
    throw new ServiceError(
      "invalid_request",
      `A Space sleeps after ${SLEEP_AFTER_MIN_SECONDS} to ${SLEEP_AFTER_SECONDS} seconds without a request.`,
      { field: "seconds" },
    );
  }
  return changeRuntime(
    actor,
    name,
    {
      type: "space.set_sleep_time",
      data: { seconds },
      change: (tx, { id }) =>
        tx.$executeRaw`UPDATE space_runtime SET sleep_seconds = ${seconds}, updated_at = now() WHERE repo_id = ${id}`,
    },
    from,
  );
}
