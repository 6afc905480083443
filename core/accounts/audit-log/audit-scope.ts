import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";

/** A part of the log. */
export type AuditScope =
  /** What an organization's administrators can read. */
  | { kind: "organization"; orgId: string }
  /** What a person did, and what was done to them. */
  | { kind: "person"; userId: string }
  | { kind: "installation" };

/** @throws ServiceError `forbidden`, `not_found` */
export async function requireAuditScope(actor: Actor, scope: AuditScope): Promise<void> {
  if (scope.kind === "organization") {
    const { orgId } = scope;
    return requirePermission(actor, "audit_log.read", { orgId }, { what: "Organization" });
  }
  if (scope.kind === "person") {
    return requirePermission(actor, "security_log.read", { userId: scope.userId }, { what: "User" });
  }
  return requirePermission(actor, "installation.operate", null, { what: "The installation" });
}
