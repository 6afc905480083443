import { exchangePlans } from "#core/accounts/organizations/plans.ts";
import { ACCOUNT_FIELDS, organizationsJson } from "#core/accounts/tokens/account.ts";
import { pool } from "#core/db.ts";
import { batched } from "#core/postgres/batched.ts";
import { OFFLINE_ACCESS, requiredScopes } from "../scopes.ts";
import type { Payload } from "./artifact-store.ts";
import type { AccountRow } from "./request-rows.ts";

/** The columns include the rows that the engine will request next. */
export type ArtifactRow = {
  id_hash: string;
  payload: Payload;
  consumed_at: Date | null;
  scopes_left: string[] | null;
  grant_payload: Payload | null;
  account: (Omit<AccountRow, "organizations"> & { organizations: AccountRow["organizations"] | null }) | null;
};

const ACCOUNT = `json_build_object(${ACCOUNT_FIELDS}, 'boundOrgId', g.bound_org_id, 'organizations', `;

const ORGANIZATIONS = `(SELECT ${organizationsJson("g.id")}
    FROM member_standing m JOIN organization o ON o.id = m.org_id
    WHERE m.user_id = u.id AND (g.is_all_orgs OR m.org_id = ANY (g.org_ids)) AND is_app_admitted(o.id, a.client_id))`;

/** An SQL condition on `organization o`. */
export const HAS_EXCHANGE_PLAN = `o.plan IN (${exchangePlans.map((plan) => `'${plan}'`).join(", ")})`;

/** Checked with each use: a token ends when its app or user loses privilege, binding, plan or membership (S95). */
const EXCHANGE_HOLDS = `EXISTS (SELECT 1 FROM oauth_app x JOIN organization o ON o.id = x.bound_org_id
      JOIN membership m ON m.org_id = o.id AND m.user_id = g.user_id
    WHERE x.client_id = g.client_id AND x.bound_org_id = g.bound_org_id AND x.blocked_at IS NULL
      AND 'token-exchange' = ANY (x.privileges) AND ${HAS_EXCHANGE_PLAN}
      AND NOT EXISTS (SELECT 1 FROM organization_app d WHERE d.org_id = o.id AND d.client_id = x.client_id AND d.decision = 'blocked'))`;

/** A new consent does not remove these scopes from earlier tokens, so the user stays signed in (S30, S36). */
const SIGN_IN = `ARRAY[${[...requiredScopes, OFFLINE_ACCESS].map((scope) => `'${scope}'`).join(", ")}]`;

/**
 * Selects no artifact whose token, Grant, consent, app or account was revoked or disabled (S49, S114).
 * @param where an SQL condition on artifacts of the model `$1`
 */
export function selectArtifact(where: string, organizations: "NULL" | typeof ORGANIZATIONS = "NULL"): string {
  return `SELECT a.id_hash, a.payload, a.consumed_at, g.payload AS grant_payload,
      CASE WHEN g.bound_org_id IS NOT NULL THEN (SELECT scopes FROM oauth_app WHERE client_id = g.client_id)
        ELSE c.scopes || ${SIGN_IN} END AS scopes_left,
      CASE WHEN u.id IS NULL THEN NULL ELSE ${ACCOUNT}${organizations}) END AS account
    FROM oauth_artifact a
    LEFT JOIN oauth_grant g ON g.id = a.grant_id
    LEFT JOIN oauth_consent c ON c.id = g.consent_id
    LEFT JOIN "user" u ON u.id = a.account_id
    WHERE a.model = $1 AND ${where}
      AND (a.grant_id IS NULL OR (g.revoked_at IS NULL AND c.revoked_at IS NULL))
      AND (g.bound_org_id IS NULL OR ${EXCHANGE_HOLDS})
      AND (a.account_id IS NULL OR (u.id IS NOT NULL AND u.disabled_at IS NULL))`;
}

/** Postgres would plan a statement with an array again for each length, which costs more than the query itself. */
const statements = [1, 2, 4, 8, 16].map((size) => {
  const placeholders = Array.from({ length: size }, (_, at) => `$${at + 2}`).join(", ");
  const where = `a.id_hash IN (${placeholders})`;
  return {
    size,
    plain: { name: `artifacts-by-id-${size}`, text: selectArtifact(where) },
    withOrganizations: { name: `artifacts-by-id-${size}-organizations`, text: selectArtifact(where, ORGANIZATIONS) },
  };
});
const LARGEST = 16;

async function readArtifacts(model: string, hashes: string[]): Promise<(ArtifactRow | undefined)[]> {
  const fitting = statements.find(({ size }) => size >= hashes.length) as (typeof statements)[number];
  const values = [model, ...hashes, ...Array.from({ length: fitting.size - hashes.length }, () => hashes[0])];
  const statement = model === "AccessToken" ? fitting.withOrganizations : fitting.plain;
  const { rows } = await pool().query<ArtifactRow>({ ...statement, values });
  const byHash = new Map(rows.map((row) => [row.id_hash, row]));
  return hashes.map((hash, at) => {
    const row = byHash.get(hash);
    // One request could change a shared object for the other.
    return row && hashes.indexOf(hash) < at ? structuredClone(row) : row;
  });
}

type Reader = (hash: string) => Promise<ArtifactRow | undefined>;
const readers = new Map<string, Reader>();

export function readArtifact(model: string, hash: string): Promise<ArtifactRow | undefined> {
  let reader = readers.get(model);
  if (!reader) {
    reader = batched((hashes) => readArtifacts(model, hashes), LARGEST);
    readers.set(model, reader);
  }
  return reader(hash);
}
