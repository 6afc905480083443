import type { Db } from "../db.ts";
import type { Prisma } from "../generated/prisma/client.ts";
import { newId } from "../ids.ts";
import type { AuditEventType } from "./event-types.ts";
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
  /** What changed; never a secret. */
  data?: Prisma.InputJsonObject;
  from?: RequestOrigin;
};

const USER_AGENT_MAX_CHARACTERS = 512;

/**
 * Adds to the audit log, in the transaction of the change it reports: either both are kept or neither. Nothing updates or
 * deletes an event; the database refuses it too.
 */
export async function recordAuditEvent(db: Db, event: NewAuditEvent): Promise<void> {
  await db.auditEvent.create({
    data: {
      id: newId(),
      type: event.type,
      actorId: event.actorId ?? null,
      orgId: event.orgId ?? null,
      clientId: event.clientId ?? null,
      subjectId: event.subjectId ?? null,
      data: event.data ?? {},
      ip: event.from?.ip ?? null,
      userAgent: storableUserAgent(event.from?.userAgent),
    },
  });
}

/** A header is bytes of the sender's choice: it is cut, and what Postgres cannot hold is left out. */
export function storableUserAgent(userAgent: string | null | undefined): string | null {
  return userAgent?.replaceAll("\0", "").slice(0, USER_AGENT_MAX_CHARACTERS).toWellFormed() ?? null;
}
