import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { lockOrganization } from "./lock-organization.ts";
import { organizationPlans } from "./plans.ts";

/**
 * Sets the plan of an organization, as an operator; null removes it.
 * @throws ServiceError `forbidden`, `not_found`, `invalid_request`
 */
export async function setPlan(actor: Actor, orgId: string, value: string | null, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "organization.set_plan", { orgId }, { what: "Organization" });
  const plan = value === null ? null : organizationPlans.find((known) => known === value);
  if (plan === undefined) {
    throw new ServiceError("invalid_request", `Choose one of ${organizationPlans.join(", ")}.`, { field: "plan" });
  }
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.set_plan", { orgId }, { what: "Organization", tx });
    const before = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { plan: true } });
    if (before.plan === plan) return;
    await tx.organization.update({ where: { id: orgId }, data: { plan } });
    await recordAuditEvent(tx, {
      type: "organization.set_plan",
      actorId: actorId(actor),
      orgId,
      data: { from: before.plan ?? "free", plan: plan ?? "free" },
      from,
    });
  });
}
