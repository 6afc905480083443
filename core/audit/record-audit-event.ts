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
  /** Who did it, and through which OAuth client (core/access/actor.ts); absent for the system. */
  actor?: { kind: string; userId?: string; clientId?: string | null };
  /** The user who did it, where there is no `actor`; absent for the system and the operator's command. */
  actorId?: string | null;
  /** The organization whose administrators may read the entry. */
  orgId?: string | null;
  /** Instead of `orgId`: the owner of the affected object, which may be an organization. */
  owner?: { kind: string; id: string } | undefined;
  /** The affected app; otherwise the one through which the actor acted. */
  clientId?: string | null;
  /** The affected user. */
  subjectId?: string | null;
  /** What changed; never a secret. Large data is cut (bounded-json.ts). */
  data?: Prisma.InputJsonObject;
  from?: RequestOrigin;
  /**
   * For a kind that can both give and remove something, such as a role or public visibility: this change removes it. It is never refused
   * because of other entries (event-types.ts, `Bound`), since only a counted change could give it again.
   */
  isRemoval?: boolean;
};

const USER_AGENT_MAX_CHARACTERS = 512;

/**
 * Adds to the audit log, in the transaction of the change that it reports: either both are stored or neither. Nothing changes an entry, or
 * deletes one before its retention has ended (retention.ts); the database refuses that too. The entry is sealed into the chain a moment
 * later (seal-audit-events.ts), so requests never wait for one another here.
 * @throws ServiceError `rate_limited` when the kind's hourly limit is reached: then the change does not happen
 */
export async function recordAuditEvent(db: Db, event: NewAuditEvent): Promise<void> {
  const { type, actor, owner, subjectId = null, data = {}, from, isRemoval } = event;
  const orgId = event.orgId ?? (owner?.kind === "organization" ? owner.id : null);
  const userId = event.actorId ?? actor?.userId ?? null;
  const clientId = event.clientId ?? actor?.clientId ?? null;
  if (userId && !isRemoval) await requireAllowance(db, userId, type, from);
  const token = from?.token ? storableJson(from.token) : null;
  // Raw SQL: the ORM costs about three times as much.
  await db.$executeRaw`
    INSERT INTO audit_event (id, type, actor_id, org_id, client_id, subject_id, data, ip, user_agent, token)
    VALUES (${newOrderedId()}, ${type}, ${userId}, ${orgId}, ${clientId}, ${subjectId}, ${boundedJson(data)}::jsonb, ${from?.ip ?? null},
      ${storableUserAgent(from?.userAgent)}, ${token}::jsonb)`;
}

/** The sender chooses a header's bytes: it is cut, and bytes that Postgres cannot store are removed. */
export function storableUserAgent(userAgent: string | null | undefined): string | null {
  return userAgent?.replaceAll("\0", "").slice(0, USER_AGENT_MAX_CHARACTERS).toWellFormed() ?? null;
}
