import { db } from "../../db.ts";

/** How many apps are set up to exchange tokens for an organization: what stops when it loses the plan. */
export async function countExchangeApps(orgId: string): Promise<number> {
  return db().oAuthApp.count({ where: { boundOrgId: orgId, privileges: { has: "token-exchange" } } });
}
