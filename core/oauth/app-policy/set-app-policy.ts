import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { lockOrganization } from "#core/accounts/organizations/lock-organization.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { type AppPolicy, appPolicies } from "./app-policies.ts";

/**
 * Sets which apps an organization allows to access what it owns. It takes effect with every app's next request. No token is revoked, so an
 * app that is allowed again continues where it was.
 * @throws ServiceError `forbidden`, `not_found`, `invalid_request`
 */
export async function setAppPolicy(actor: Actor, orgId: string, value: string, from: RequestOrigin): Promise<void> {
  const policy = appPolicies.find((known) => known === value);
  if (!policy) throw new ServiceError("invalid_request", `Choose one of ${appPolicies.join(", ")}.`, { field: "policy" });
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization", tx });
    const { appPolicy: before } = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { appPolicy: true } });
    if (before === policy) return;
    await tx.organization.update({ where: { id: orgId }, data: { appPolicy: policy } });
    // If every app is allowed, there is nothing left to request.
    if (policy === "all") await tx.organizationAppRequest.deleteMany({ where: { orgId } });
    await recordAuditEvent(tx, {
      type: "organization.set_app_policy",
      actorId: actorId(actor),
      orgId,
      data: { from: before, policy },
      from,
      // The list starts with the most permissive one.
      isTakingAway: appPolicies.indexOf(policy) > appPolicies.indexOf(before as AppPolicy),
    });
  });
}

/** @throws ServiceError `forbidden` for those who may not manage the organization */
export async function readAppPolicy(actor: Actor, orgId: string): Promise<AppPolicy> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const { appPolicy } = await db().organization.findUniqueOrThrow({ where: { id: orgId }, select: { appPolicy: true } });
  return appPolicy as AppPolicy;
}
