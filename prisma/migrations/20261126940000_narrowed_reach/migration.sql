-- As before, but for one thing: what was created while "all organizations" were granted reaches, once the consent names some, only those.
CREATE OR REPLACE VIEW "live_delegation" AS
SELECT d.id, d.user_id, d.client_id, d.token_id, d.bound_org_id,
  CASE WHEN d.bound_org_id IS NOT NULL THEN 'exchanged' WHEN d.client_id IS NULL OR a.is_first_party THEN 'own' ELSE 'app' END AS kind,
  CASE WHEN d.consent_id IS NULL THEN d.scopes ELSE ARRAY(SELECT s FROM unnest(d.scopes) s WHERE s = ANY (c.scopes)) END AS scopes,
  d.is_all_orgs AND (d.consent_id IS NULL OR c.is_all_orgs) AS is_all_orgs,
  CASE WHEN d.consent_id IS NULL OR c.is_all_orgs THEN d.org_ids
    WHEN d.is_all_orgs THEN c.org_ids
    ELSE ARRAY(SELECT o FROM unnest(d.org_ids) o WHERE o = ANY (c.org_ids)) END AS org_ids
FROM delegation d
JOIN "user" u ON u.id = d.user_id AND u.disabled_at IS NULL
LEFT JOIN oauth_consent c ON c.id = d.consent_id
LEFT JOIN oauth_app a ON a.client_id = d.client_id
LEFT JOIN personal_access_token p ON d.client_id IS NULL AND p.id = d.token_id
WHERE d.ended_at IS NULL AND a.blocked_at IS NULL
  -- What each rests on must be there: nothing holds because its row is gone.
  AND CASE
    WHEN d.client_id IS NULL THEN p.id IS NOT NULL AND p.revoked_at IS NULL
    WHEN d.bound_org_id IS NOT NULL THEN exchange_holds(d.user_id, d.client_id, d.bound_org_id)
    ELSE c.id IS NOT NULL AND c.revoked_at IS NULL AND (a.client_id IS NOT NULL OR is_document_let_in(d.client_id))
  END;
