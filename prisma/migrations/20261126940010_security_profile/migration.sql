-- The security profile of an app, and whether its owner wants refresh tokens replaced with each use (docs/decisions/094).
ALTER TABLE "oauth_app" ADD COLUMN "security_profile" TEXT NOT NULL DEFAULT 'standard',
    ADD COLUMN "is_refresh_rotated" BOOLEAN NOT NULL DEFAULT false;

-- Self-registered apps have logos now, and are deleted by the thousand like documents: their logos go with them.
CREATE TRIGGER "oauth_app_logo" AFTER DELETE ON "oauth_app"
  FOR EACH ROW WHEN (OLD."logo_id" IS NOT NULL) EXECUTE FUNCTION "delete_document_logo"();
