import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import type { Repo } from "../repos/repo.ts";

type Happened = "ask" | "accept" | "reject" | "reopen" | "grant" | "withdraw";

/** Who gave or denied whom access: for the administrators of the repository's organization. */
export async function recordAccessAudit(
  tx: Db,
  actor: Actor,
  what: Happened,
  { repo, subjectId, from }: { repo: Pick<Repo, "fullName" | "type" | "owner">; subjectId: string; from: RequestOrigin },
): Promise<void> {
  await recordAuditEvent(tx, {
    type: `access_request.${what}`,
    actorId: actorId(actor),
    orgId: repo.owner.kind === "organization" ? repo.owner.id : null,
    clientId: clientIdOf(actor),
    subjectId,
    data: { repo: repo.fullName, type: repo.type },
    from,
  });
}
