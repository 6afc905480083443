import type { Client, KoaContextWithOIDC } from "oidc-provider";
import { pool } from "#core/db.ts";
import { parseOrgIds } from "../authorization/org-ids.ts";
import { clientFingerprint } from "../clients/client-identity.ts";
import { foreignResources } from "../resources/resource-servers.ts";

export type Consent = {
  id: string;
  userId: string;
  clientId: string;
  scopes: string[];
  declinedScopes: string[];
  orgIds: string[];
  declinedOrgIds: string[];
  isAllOrgs: boolean;
  /** Contains resources other than this service's own API (RFC 8707). */
  resources: string[];
  clientFingerprint: string;
};

const FIND = `SELECT id, user_id AS "userId", client_id AS "clientId", scopes, declined_scopes AS "declinedScopes",
    org_ids AS "orgIds", declined_org_ids AS "declinedOrgIds", is_all_orgs AS "isAllOrgs", resources, client_fingerprint AS "clientFingerprint"
  FROM oauth_consent WHERE user_id = $1 AND client_id = $2 AND revoked_at IS NULL`;

export async function readConsent(userId: string, clientId: string): Promise<Consent | undefined> {
  const { rows } = await pool().query<Consent>({ name: "consent-find", text: FIND, values: [userId, clientId] });
  return rows[0];
}

const found = new WeakMap<object, Promise<Consent | undefined>>();

export function findConsent(ctx: KoaContextWithOIDC, userId: string, clientId: string): Promise<Consent | undefined> {
  let consent = found.get(ctx);
  if (!consent) {
    consent = readConsent(userId, clientId);
    found.set(ctx, consent);
  }
  return consent;
}

/** See S29, S36. */
export async function isConsentEnough(
  consent: Consent,
  client: Client,
  asked: { orgIds?: unknown; resource?: unknown },
): Promise<boolean> {
  if (consent.clientFingerprint !== clientFingerprint(client)) return false;
  if (foreignResources(asked.resource).some((resource) => !consent.resources.includes(resource))) return false;
  if (consent.isAllOrgs) return true;
  const answered = new Set([...consent.orgIds, ...consent.declinedOrgIds]);
  const missing = parseOrgIds(String(asked.orgIds ?? "")).filter((id) => !answered.has(id));
  return missing.length === 0 || !(await mayGrantAny(consent, missing));
}

/** Users are asked only about organizations of which they are members (S22) and which allow the app. */
async function mayGrantAny({ userId, clientId }: Consent, orgIds: string[]): Promise<boolean> {
  const { rowCount } = await pool().query({
    name: "consent-member",
    text: "SELECT 1 FROM membership WHERE user_id = $1 AND org_id = ANY ($2) AND is_app_admitted(org_id, $3) LIMIT 1",
    values: [userId, orgIds, clientId],
  });
  return rowCount === 1;
}
