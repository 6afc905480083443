import { db } from "../../db.ts";

/** How many apps may exchange tokens for an organization: they stop working if it loses the plan. */
export async function countExchangeApps(orgId: string): Promise<number> {
  return db().oAuthApp.count({ where: { boundOrgId: orgId, privileges: { has: "token-exchange" } } });
}
