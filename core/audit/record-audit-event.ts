import type { Db } from "../db.ts";
import type { Prisma } from "../generated/prisma/client.ts";
import { newOrderedId } from "../ids.ts";
import { boundedJson, storableJson } from "./bounded-json.ts";
import type { AuditEventType } from "./event-types.ts";
import { requireAllowance } from "./hourly-allowance.ts";
import type { RequestOrigin } from "./request-origin.ts";

export type NewAuditEvent = {
  /** See S116. */
  type: AuditEventType;
  actor?: { kind: string; userId?: string; clientId?: string | null };
  /** The actor's ID if there is no `actor`. Absent for the system and the operator's command. */
  actorId?: string | null;
  orgId?: string | null;
  /** The owner of the affected object, if `orgId` is absent. */
  owner?: { kind: string; id: string } | undefined;
  /** The affected app, or else the app through which the actor acted. */
  clientId?: string | null;
  subjectId?: string | null;
  /** The data must never contain a secret. */
  data?: Prisma.InputJsonObject;
  from?: RequestOrigin;
  /** A removal is never refused because of other entries (`Bound` in event-types.ts). */
  isRemoval?: boolean;
};

const USER_AGENT_MAX_CHARACTERS = 512;

/**
 * Call this in the transaction of the change.
 * @throws ServiceError `rate_limited` beyond the hourly limit, so that the change does not happen
 */
export async function recordAuditEvent(db: Db, event: NewAuditEvent): Promise<void> {
  const { type, actor, owner, subjectId = null, data = {}, from, isRemoval } = event;
  const orgId = event.orgId ?? (owner?.kind === "organization" ? owner.id : null);
  const userId = event.actorId ?? actor?.userId ?? null;
  const clientId = event.clientId ?? actor?.clientId ?? null;
  if (userId && !isRemoval) await requireAllowance(db, userId, type, from);
  const token = from?.token ? storableJson(from.token) : null;
  await db.$executeRaw`
    INSERT INTO audit_event (id, type, actor_id, org_id, client_id, subject_id, data, ip, user_agent, token)
    VALUES (${newOrderedId()}, ${type}, ${userId}, ${orgId}, ${clientId}, ${subjectId}, ${boundedJson(data)}::jsonb, ${from?.ip ?? null},
      ${storableUserAgent(from?.userAgent)}, ${token}::jsonb)`;
}

/** The sender chooses the bytes of the header. */
export function storableUserAgent(userAgent: string | null | undefined): string | null {
  return userAgent?.replaceAll("\0", "").slice(0, USER_AGENT_MAX_CHARACTERS).toWellFormed() ?? null;
}
