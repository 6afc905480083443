import { type Db, db } from "#core/db.ts";
import type { AppRefusal } from "./app-policies.ts";

/** Which of these organizations do not allow an app, and why; `is_app_admitted` decides, as for every token. */
export async function findRefusals(clientId: string, orgIds: readonly string[], tx: Db = db()): Promise<Map<string, AppRefusal>> {
  if (orgIds.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ orgId: string; refusal: AppRefusal }[]>`
    SELECT o.id AS "orgId", CASE WHEN d.decision = 'blocked' THEN 'blocked' WHEN o.app_policy = 'none' THEN 'no_apps' ELSE 'not_approved' END AS refusal
    FROM organization o LEFT JOIN organization_app d ON d.org_id = o.id AND d.client_id = ${clientId}
    WHERE o.id = ANY (${[...orgIds]}) AND NOT is_app_admitted(o.id, ${clientId})`;
  return new Map(rows.map(({ orgId, refusal }) => [orgId, refusal]));
}
