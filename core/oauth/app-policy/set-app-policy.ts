import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { lockOrganization } from "#core/accounts/organizations/lock-organization.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { type AppPolicy, appPolicies } from "./app-policies.ts";

/**
 * Says which apps an organization lets at what is its own. It holds from the next request of every app: no token is revoked, so that
 * an app which is let in again goes on where it was.
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
    // Nothing is left to ask for where every app is let in.
    if (policy === "all") await tx.organizationAppRequest.deleteMany({ where: { orgId } });
    await recordAuditEvent(tx, {
      type: "organization.set_app_policy",
      actorId: actorId(actor),
      orgId,
      data: { from: before, policy },
      from,
      // They are listed from the one that lets in most.
      isTakingAway: appPolicies.indexOf(policy) > appPolicies.indexOf(before as AppPolicy),
    });
  });
}

/** @throws ServiceError `forbidden` for those who do not decide it */
export async function readAppPolicy(actor: Actor, orgId: string): Promise<AppPolicy> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const { appPolicy } = await db().organization.findUniqueOrThrow({ where: { id: orgId }, select: { appPolicy: true } });
  return appPolicy as AppPolicy;
}
