import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import type { AuditEventType } from "../../audit/event-types.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import type { RunOwner } from "../runs/run.ts";
import { SCHEDULE_CHANNEL } from "./schedule-table.ts";

/** Records a change of a schedule, and has workers check their schedules again. */
export async function recordScheduleChange(
  tx: Db,
  type: Extract<AuditEventType, `scheduled_job.${string}`>,
  { actor, owner, from, data }: { actor: Actor; owner: RunOwner; from: RequestOrigin; data: Prisma.InputJsonObject },
): Promise<void> {
  await recordAuditEvent(tx, {
    type,
    actorId: actorId(actor),
    orgId: owner.kind === "organization" ? owner.id : null,
    clientId: clientIdOf(actor),
    data,
    from,
  });
  await tx.$executeRaw`SELECT pg_notify(${SCHEDULE_CHANNEL}, '')`;
}
