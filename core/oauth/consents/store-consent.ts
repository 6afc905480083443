import type { Db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import type { Consent } from "./find-consent.ts";
import type { Choice } from "./merge-answer.ts";

export type ConsentOwner = Pick<Consent, "userId" | "clientId">;

/** The consent to add to. One user's answers to one client wait for each other here, so that none is lost. */
export async function lockStandingConsent(
  tx: Db,
  { userId, clientId }: ConsentOwner,
  fingerprint: string,
): Promise<Choice | undefined> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`consent ${userId} ${clientId}`}, 0))`;
  const live = await tx.oAuthConsent.findFirst({ where: { userId, clientId, revokedAt: null } });
  // What the app was allowed before its change does not apply to it now (S36).
  return live?.clientFingerprint === fingerprint ? live : undefined;
}

/** There is one live consent per user and client: this replaces the previous one, and ends what now exceeds it. */
export async function storeConsent(tx: Db, owner: ConsentOwner, choice: Choice, fingerprint: string): Promise<void> {
  const { userId, clientId } = owner;
  await tx.$executeRaw`
    INSERT INTO oauth_consent (id, user_id, client_id, scopes, declined_scopes, org_ids, declined_org_ids, is_all_orgs,
      resources, client_fingerprint)
    VALUES (${newId()}, ${userId}, ${clientId}, ${choice.scopes}, ${choice.declinedScopes}, ${choice.orgIds},
      ${choice.declinedOrgIds}, ${choice.isAllOrgs}, ${choice.resources}, ${fingerprint})
    ON CONFLICT (user_id, client_id) WHERE revoked_at IS NULL DO UPDATE SET scopes = excluded.scopes,
      declined_scopes = excluded.declined_scopes, org_ids = excluded.org_ids, declined_org_ids = excluded.declined_org_ids,
      is_all_orgs = excluded.is_all_orgs, resources = excluded.resources, client_fingerprint = excluded.client_fingerprint, updated_at = now()`;
  await revokeExcess(tx, owner);
}

/**
 * Unticking something revokes it at once, also from issued tokens (S30). What the page did not show is not revoked: an app that changed its
 * name is asked about again, and its signed-in users stay signed in.
 */
async function revokeExcess(tx: Db, { userId, clientId }: ConsentOwner): Promise<void> {
  await tx.$executeRaw`
    UPDATE oauth_grant g SET revoked_at = now() FROM oauth_consent c
    WHERE c.id = g.consent_id AND c.user_id = ${userId} AND c.client_id = ${clientId} AND c.revoked_at IS NULL
      AND g.revoked_at IS NULL
      AND ((NOT c.is_all_orgs AND (g.is_all_orgs OR NOT g.org_ids <@ c.org_ids))
        OR string_to_array(coalesce(g.payload #>> '{openid,scope}', ''), ' ') && c.declined_scopes)`;
}
