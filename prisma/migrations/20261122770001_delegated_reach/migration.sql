-- What the operator says of apps that are known by a metadata document, by their host (S87): the most specific rule wins over those for its
-- parents, and any rule over the policy, but for "off". It says of one client what `standingOf` says in core/oauth/documents/hosts.
CREATE FUNCTION is_document_let_in(client TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
  SELECT p.policy <> 'off' AND coalesce((
      SELECT h.rule = 'allow' FROM oauth_client_host h, regexp_replace(split_part(client, '/', 3), ':[0-9]+$', '') AS name
      WHERE name = h.host OR right(name, length(h.host) + 1) = '.' || h.host ORDER BY length(h.host) DESC LIMIT 1
    ), p.policy = 'open')
  FROM (SELECT coalesce((SELECT value->>'policy' FROM setting WHERE key = 'client_documents'), 'open') AS policy) p
$$;

-- As before, but for two things. Apps that the operator keeps out do nothing, as long as that lasts. And what was made by token exchange
-- rests on the app being bound to the organization, and not on the token: that lives for an hour, and a careful app revokes it.
CREATE OR REPLACE VIEW "live_delegation" AS
SELECT d.id, d.user_id, d.client_id, d.token_id, d.bound_org_id,
  CASE WHEN d.bound_org_id IS NOT NULL THEN 'exchanged' WHEN d.client_id IS NULL OR a.is_first_party THEN 'own' ELSE 'app' END AS kind,
  CASE WHEN d.consent_id IS NULL THEN d.scopes ELSE ARRAY(SELECT s FROM unnest(d.scopes) s WHERE s = ANY (c.scopes)) END AS scopes,
  d.is_all_orgs,
  CASE WHEN d.consent_id IS NULL OR c.is_all_orgs THEN d.org_ids
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
