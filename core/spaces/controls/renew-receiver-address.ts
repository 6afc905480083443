import type { Actor } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { env } from "../../env.ts";
import type { Repo } from "../../hub/repos/repo.ts";
import { appPath, visitorSegment } from "../app-address.ts";
import type { SpaceRuntime } from "../space-runtime.ts";
import { changeRuntime, type SpaceName } from "./change-runtime.ts";

/** The URL to which webhooks of a private Space post: whoever knows it may post, and do nothing else. Shown to those who may manage it. */
export function receiverAddress(repo: Repo, { receiverGeneration }: Pick<SpaceRuntime, "receiverGeneration">): string {
  return `${env().ORIGIN}${appPath(repo)}${visitorSegment(repo.id, { kind: "receiver", generation: receiverGeneration })}/`;
}

/** Creates a new one; the previous one stops working. @throws ServiceError as `changeRuntime` */
export function renewReceiverAddress(actor: Actor, name: SpaceName, from: RequestOrigin) {
  return changeRuntime(
    actor,
    name,
    {
      type: "space.renew_receiver_address",
      change: (tx, { id }) =>
        tx.$executeRaw`UPDATE space_runtime SET receiver_generation = receiver_generation + 1, updated_at = now() WHERE repo_id = ${id}`,
    },
    from,
  );
}
