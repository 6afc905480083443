import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import type { AuditEventType } from "../../audit/event-types.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { changeRepo } from "../../hub/repos/change-repo.ts";
import type { RepoName } from "../../hub/repos/find-repo.ts";
import type { Repo } from "../../hub/repos/repo.ts";
import { COLUMNS, type SpaceRuntime } from "../space-runtime.ts";
import { SPACE_CHANNEL } from "../stages.ts";

/** A Space's name in URLs. */
export type SpaceName = Omit<RepoName, "type">;

type Change = {
  type: AuditEventType;
  data?: Record<string, string | number | boolean | null>;
  /** Makes the change, and returns the fields of the row read before. */
  change: (tx: Db, repo: Repo) => Promise<unknown>;
};

/**
 * Lets one caller at a time change how a Space runs, records it in the audit log, and notifies the worker that runs it.
 * @throws ServiceError `conflict` while there is no commit; and as `changeRepo`
 */
export async function changeRuntime(
  actor: Actor,
  name: SpaceName,
  { type, data = {}, change }: Change,
  from: RequestOrigin,
): Promise<{ repo: Repo; runtime: SpaceRuntime }> {
  return changeRepo(actor, { type: "space", ...name }, async (tx, repo) => {
    const rows = await tx.$queryRaw<
      { repo_id: string }[]
    >`SELECT repo_id FROM space_runtime WHERE repo_id = ${repo.id} FOR UPDATE`;
    if (rows.length === 0) throw new ServiceError("conflict", "This Space has no commit yet: push its files first.");
    await change(tx, repo);
    await recordAuditEvent(tx, {
      type,
      actorId: actorId(actor),
      orgId: repo.owner.kind === "organization" ? repo.owner.id : null,
      clientId: clientIdOf(actor),
      data: { repo: repo.fullName, type: repo.type, ...data },
      from,
    });
    await tx.$executeRaw`SELECT pg_notify(${SPACE_CHANNEL}, ${repo.id})`;
    const [runtime] = await tx.$queryRawUnsafe<SpaceRuntime[]>(
      `SELECT ${COLUMNS} FROM space_runtime WHERE repo_id = $1`,
      repo.id,
    );
    return { repo, runtime: runtime as SpaceRuntime };
  });
}
