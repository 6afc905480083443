-- An organization that blocks an app ends what the app has exchanged for its members, and for good (S95): let in again later, the app
-- has to exchange anew. Each use looks too (core/oauth/artifact-rows.ts).
CREATE FUNCTION end_exchanges_of_blocked_app() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_grant SET revoked_at = now()
    WHERE bound_org_id = NEW.org_id AND client_id = NEW.client_id AND revoked_at IS NULL AND consent_id IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER organization_app_block_ends_exchanges AFTER INSERT OR UPDATE OF decision ON "organization_app"
  FOR EACH ROW WHEN (NEW.decision = 'blocked') EXECUTE FUNCTION end_exchanges_of_blocked_app();

-- What was blocked until now.
UPDATE oauth_grant g SET revoked_at = now() FROM organization_app d
  WHERE d.decision = 'blocked' AND g.bound_org_id = d.org_id AND g.client_id = d.client_id AND g.revoked_at IS NULL AND g.consent_id IS NULL;
