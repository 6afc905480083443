-- What ends a right to exchange ends what was exchanged, and for good (S95): a token that died with a membership, a privilege, a
-- binding or a plan does not come back to life with it. Each use looks too (core/oauth/artifact-rows.ts), so that what is issued at
-- that very moment is dead as well.
CREATE INDEX "oauth_grant_bound_org_id_user_id_idx" ON "oauth_grant"("bound_org_id", "user_id");

CREATE FUNCTION end_exchanges_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_grant SET revoked_at = now()
    WHERE bound_org_id = OLD.org_id AND user_id = OLD.user_id AND revoked_at IS NULL AND consent_id IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER membership_ends_exchanges AFTER DELETE ON "membership"
  FOR EACH ROW EXECUTE FUNCTION end_exchanges_of_member();

CREATE FUNCTION end_exchanges_of_organization() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_grant SET revoked_at = now() WHERE bound_org_id = OLD.id AND revoked_at IS NULL AND consent_id IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER organization_plan_ends_exchanges AFTER UPDATE OF plan ON "organization"
  FOR EACH ROW WHEN (OLD.plan IN ('enterprise', 'plus') AND (NEW.plan IS NULL OR NEW.plan NOT IN ('enterprise', 'plus')))
  EXECUTE FUNCTION end_exchanges_of_organization();

CREATE FUNCTION end_exchanges_of_app() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_grant SET revoked_at = now()
    WHERE bound_org_id = OLD.bound_org_id AND client_id = OLD.client_id AND revoked_at IS NULL AND consent_id IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER oauth_app_ends_exchanges AFTER UPDATE OF bound_org_id, privileges, blocked_at ON "oauth_app"
  FOR EACH ROW WHEN (OLD.bound_org_id IS NOT NULL AND (NEW.bound_org_id IS DISTINCT FROM OLD.bound_org_id
    OR NEW.blocked_at IS NOT NULL OR NOT coalesce('token-exchange' = ANY (NEW.privileges), false)))
  EXECUTE FUNCTION end_exchanges_of_app();
CREATE TRIGGER oauth_app_deletion_ends_exchanges AFTER DELETE ON "oauth_app"
  FOR EACH ROW WHEN (OLD.bound_org_id IS NOT NULL) EXECUTE FUNCTION end_exchanges_of_app();

-- Somebody of the organization or of the app asks the operator for the privilege.
ALTER TABLE "oauth_app" ADD COLUMN "privilege_requested_at" TIMESTAMPTZ(3);
