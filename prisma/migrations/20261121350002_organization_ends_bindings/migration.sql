-- An app of somebody else that was bound to an organization which is gone is bound to none.
CREATE FUNCTION end_bindings_of_organization() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_app SET bound_org_id = NULL, privileges = '{}', privilege_requested_at = NULL, access_token_seconds = NULL
    WHERE bound_org_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER organization_ends_bindings AFTER DELETE ON "organization"
  FOR EACH ROW EXECUTE FUNCTION end_bindings_of_organization();
