-- When the logo of a metadata document was last asked for, whether or not it came.
ALTER TABLE "oauth_client_document" ADD COLUMN "logo_fetched_at" TIMESTAMPTZ(3);

-- Housekeeping deletes documents that nobody uses, by the thousand; their logos go with them.
CREATE FUNCTION "delete_document_logo"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "image" WHERE "id" = OLD."logo_id";
  RETURN NULL;
END
$$;

CREATE TRIGGER "oauth_client_document_logo" AFTER DELETE ON "oauth_client_document"
  FOR EACH ROW WHEN (OLD."logo_id" IS NOT NULL) EXECUTE FUNCTION "delete_document_logo"();
