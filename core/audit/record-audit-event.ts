import type { Db } from "../db.ts";
import type { Prisma } from "../generated/prisma/client.ts";
import { newOrderedId } from "../ids.ts";
import { boundedJson, storableJson } from "./bounded-json.ts";
import type { AuditEventType } from "./event-types.ts";
import { requireAllowance } from "./hourly-allowance.ts";
import type { RequestOrigin } from "./request-origin.ts";

export type NewAuditEvent = {
  /** `scope.action` (S116). A new one is a line in event-types.ts. */
  type: AuditEventType;
  /** The user who did it; absent for the system and the operator's command. */
  actorId?: string | null;
  /** The organization whose administrators may read it. */
  orgId?: string | null;
  clientId?: string | null;
  /** The user it was done to. */
  subjectId?: string | null;
  /** What changed; never a secret. What is large is cut (bounded-json.ts). */
  data?: Prisma.InputJsonObject;
  from?: RequestOrigin;
  /**
   * Of a kind that goes both ways: this one takes something away, such as a role or that everybody may read. It is never refused for what else
   * was recorded (event-types.ts, `Bound`): it needs a change the other way first, which counts.
   */
  isTakingAway?: boolean;
};

const USER_AGENT_MAX_CHARACTERS = 512;

/**
 * Adds to the audit log, in the transaction of the change it reports: either both are kept or neither. Nothing updates or
 * deletes an event; the database refuses it too. Its place in the chain it gets a moment later (seal-audit-events.ts), so that
 * requests never wait for one another here.
 * @throws ServiceError `rate_limited` once as much was recorded as the kind allows in an hour: the change does not happen then
 */
export async function recordAuditEvent(db: Db, event: NewAuditEvent): Promise<void> {
  const { type, actorId = null, orgId = null, clientId = null, subjectId = null, data = {}, from, isTakingAway } = event;
  if (actorId && !isTakingAway) await requireAllowance(db, actorId, type, from);
  const token = from?.token ? storableJson(from.token) : null;
  // By hand: the ORM's own way costs about three times as much.
  await db.$executeRaw`
    INSERT INTO audit_event (id, type, actor_id, org_id, client_id, subject_id, data, ip, user_agent, token)
    VALUES (${newOrderedId()}, ${type}, ${actorId}, ${orgId}, ${clientId}, ${subjectId}, ${boundedJson(data)}::jsonb, ${from?.ip ?? null},
      ${storableUserAgent(from?.userAgent)}, ${token}::jsonb)`;
}

/** A header is bytes of the sender's choice: it is cut, and what Postgres cannot hold is left out. */
export function storableUserAgent(userAgent: string | null | undefined): string | null {
  return userAgent?.replaceAll("\0", "").slice(0, USER_AGENT_MAX_CHARACTERS).toWellFormed() ?? null;
}
