import { type Actor, actorId } from "../../access/actor.ts";
import type { AuditEventType } from "../../audit/event-types.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { env } from "../../env.ts";
import { conflict, invalidRequest } from "../../errors.ts";
import { changeRepo } from "../../hub/repos/change-repo.ts";
import type { RepoName } from "../../hub/repos/find-repo.ts";
import type { Repo } from "../../hub/repos/repo.ts";
import { appPath, visitorSegment } from "../app-address.ts";
import { readSpaceConfig } from "../space-config.ts";
import { COLUMNS, type SpaceRuntime } from "../space-runtime.ts";
import { SLEEP_AFTER_MIN_SECONDS, SLEEP_AFTER_SECONDS, SPACE_CHANNEL } from "../stages.ts";

export type SpaceName = Omit<RepoName, "type">;

type Change = {
  type: AuditEventType;
  data?: Record<string, string | number | boolean | null>;
  /** `change` runs in the transaction that has locked the row. */
  change: (tx: Db, repo: Repo) => Promise<unknown>;
};

async function changeRuntime(
  actor: Actor,
  name: SpaceName,
  { type, data = {}, change }: Change,
  from: RequestOrigin,
): Promise<{ repo: Repo; runtime: SpaceRuntime }> {
  return changeRepo(actor, { type: "space", ...name }, async (tx, repo) => {
    const rows = await tx.$queryRaw<
      { repo_id: string }[]
    >`SELECT repo_id FROM space_runtime WHERE repo_id = ${repo.id} FOR UPDATE`;
    if (rows.length === 0) throw conflict("This Space has no commits. Push its files first.");
    await change(tx, repo);
    await recordAuditEvent(tx, { type, actor, owner: repo.owner, data: { repo: repo.fullName, type: repo.type, ...data }, from });
    await tx.$executeRaw`SELECT pg_notify(${SPACE_CHANNEL}, ${repo.id})`;
    const [runtime] = await tx.$queryRawUnsafe<SpaceRuntime[]>(
      `SELECT ${COLUMNS} FROM space_runtime WHERE repo_id = $1`,
      repo.id,
    );
    return { repo, runtime: runtime as SpaceRuntime };
  });
}

export function pauseSpace(actor: Actor, name: SpaceName, from: RequestOrigin) {
  return changeRuntime(
    actor,
    name,
    {
      type: "space.pause",
      change: (tx, repo) => {
        if (readSpaceConfig(repo).kind === "static") throw invalidRequest("A static Space cannot be paused.");
        return tx.$executeRaw`
          UPDATE space_runtime SET is_wanted = false, stage = 'PAUSED', message = NULL, address = NULL, updated_at = now()
          WHERE repo_id = ${repo.id}`;
      },
    },
    from,
  );
}

/** Afterwards, an organization's Space counts against the user who restarted the Space. */
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

export function setSleepTime(actor: Actor, name: SpaceName, seconds: number, from: RequestOrigin) {
  if (!Number.isInteger(seconds) || seconds < SLEEP_AFTER_MIN_SECONDS || seconds > SLEEP_AFTER_SECONDS) {
    throw invalidRequest(
      `Choose a sleep time of ${SLEEP_AFTER_MIN_SECONDS} to ${SLEEP_AFTER_SECONDS.toLocaleString("en")} seconds.`,
      "seconds",
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

/** Anybody who knows this URL can send POST requests to it, and no other requests. */
export function receiverAddress(repo: Repo, { receiverGeneration }: Pick<SpaceRuntime, "receiverGeneration">): string {
  return `${env().ORIGIN}${appPath(repo)}${visitorSegment(repo.id, { kind: "receiver", generation: receiverGeneration })}/`;
}

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
