import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { changeOrganization } from "#core/accounts/organizations/change-organization.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { invalidRequest } from "#core/errors.ts";

export const appPolicies = ["all", "approved", "none"] as const;
export type AppPolicy = (typeof appPolicies)[number];

const appDecisions = ["approved", "blocked"] as const;
export type AppDecision = (typeof appDecisions)[number];

export type AppRefusal = "blocked" | "not_approved" | "no_apps";

/** Revokes no tokens, so that an app that is allowed again can continue. */
export async function setAppPolicy(actor: Actor, orgId: string, value: string, from: RequestOrigin): Promise<void> {
  const policy = appPolicies.find((known) => known === value);
  if (!policy) throw invalidRequest(`Choose one of ${appPolicies.join(", ")}.`, "policy");
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  await changeOrganization(actor, { orgId, action: "organization.manage", from }, async (tx, record) => {
    const { appPolicy: before } = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { appPolicy: true } });
    if (before === policy) return;
    await tx.organization.update({ where: { id: orgId }, data: { appPolicy: policy } });
    if (policy === "all") await tx.organizationAppRequest.deleteMany({ where: { orgId } });
    const isRemoval = appPolicies.indexOf(policy) > appPolicies.indexOf(before as AppPolicy);
    await record({ type: "organization.set_app_policy", data: { from: before, policy }, isRemoval });
  });
}

export async function readAppPolicy(actor: Actor, orgId: string): Promise<AppPolicy> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const { appPolicy } = await db().organization.findUniqueOrThrow({ where: { id: orgId }, select: { appPolicy: true } });
  return appPolicy as AppPolicy;
}

export async function findRefusals(clientId: string, orgIds: readonly string[], tx: Db = db()): Promise<Map<string, AppRefusal>> {
  if (orgIds.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ orgId: string; refusal: AppRefusal }[]>`
    SELECT o.id AS "orgId", CASE WHEN d.decision = 'blocked' THEN 'blocked' WHEN o.app_policy = 'none' THEN 'no_apps' ELSE 'not_approved' END AS refusal
    FROM organization o LEFT JOIN organization_app d ON d.org_id = o.id AND d.client_id = ${clientId}
    WHERE o.id = ANY (${[...orgIds]}) AND NOT is_app_admitted(o.id, ${clientId})`;
  return new Map(rows.map(({ orgId, refusal }) => [orgId, refusal]));
}
