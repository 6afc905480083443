import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { invalidRequest } from "#core/errors.ts";
import { changeOrganization } from "./change-organization.ts";
import { organizationPlans } from "./plans.ts";

export async function setPlan(actor: Actor, orgId: string, value: string | null, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "organization.set_plan", { orgId }, { what: "Organization" });
  const plan = value === null ? null : organizationPlans.find((known) => known === value);
  if (plan === undefined) throw invalidRequest(`Choose one of ${organizationPlans.join(", ")}.`, "plan");
  await changeOrganization(actor, { orgId, action: "organization.set_plan", from }, async (tx, record) => {
    const before = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { plan: true } });
    if (before.plan === plan) return;
    await tx.organization.update({ where: { id: orgId }, data: { plan } });
    await record({ type: "organization.set_plan", data: { from: before.plan ?? "free", plan: plan ?? "free" } });
  });
}

export async function countExchangeApps(orgId: string): Promise<number> {
  return db().oAuthApp.count({ where: { boundOrgId: orgId, privileges: { has: "token-exchange" } } });
}
