import type { auditEventSchema } from "@keyhook/sdk";
import type { z } from "zod";
import { describeAuditEvent } from "../../audit/describe-audit-event.ts";
import { avatarUrl } from "../avatar.ts";
import type { AuditRow } from "./read-audit-entries.ts";

/** See docs/specification/organizations-and-tokens.md#audit-log. `subject` and `organization` are additions of this service. */
export type WireAuditEvent = z.infer<typeof auditEventSchema>;

export function auditEventOnTheWire(row: AuditRow): WireAuditEvent {
  const { token, isTokenGone, actorId, actorName, subjectId, subjectName, clientId, clientName } = row;
  return {
    _id: row.id,
    createdAt: row.createdAt.toISOString(),
    type: row.type,
    message: `${authorOf(row)} ${messageOf(row)}`,
    data: row.data,
    ip: row.ip,
    location: null,
    userAgent: row.userAgent,
    author: actorId
      ? { type: "user", _id: actorId, user: actorName, avatarUrl: actorName && avatarUrl(actorName), deleted: actorName === null }
      : { type: "system" },
    token: token && {
      type: token.type,
      id: token.id,
      name: token.name ?? null,
      role: token.role ?? null,
      last4: token.last4 ?? null,
      deleted: isTokenGone,
    },
    oauth: clientId ? { clientId, name: clientName } : null,
    subject: subjectId ? { _id: subjectId, user: subjectName, deleted: subjectName === null } : null,
    organization: row.orgId ? { _id: row.orgId, name: row.orgName } : null,
  };
}

export function authorOf({ actorId, actorName }: Pick<AuditRow, "actorId" | "actorName">): string {
  return actorId ? (actorName ?? "A deleted user") : "The system";
}

export function messageOf({ type, data, actorId, subjectId, subjectName, clientId, clientName }: AuditRow): string {
  return describeAuditEvent(type, {
    data,
    subject: subjectId ? (subjectName ?? "a deleted user") : undefined,
    isOwn: subjectId === actorId,
    app: clientId ? (clientName ?? clientId) : undefined,
  });
}
