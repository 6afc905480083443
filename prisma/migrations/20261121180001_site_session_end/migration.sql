-- Site sessions that ended and whose apps have not been told yet. Written by the database itself, in the transaction that ends the
-- session, so that no way of ending one can forget it: sign-out, settings, a changed password, a disabled or deleted person.
CREATE TABLE "site_session_end" (
    "site_session_id" TEXT NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "site_session_end_pkey" PRIMARY KEY ("site_session_id")
);

CREATE FUNCTION "note_site_session_end"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "site_session_end" ("site_session_id") VALUES (OLD."id") ON CONFLICT DO NOTHING;
  PERFORM pg_notify('site_session_end', '');
  RETURN NULL;
END
$$;

CREATE TRIGGER "site_session_ended" AFTER UPDATE OF "ended_at" ON "site_session"
  FOR EACH ROW WHEN (OLD."ended_at" IS NULL AND NEW."ended_at" IS NOT NULL) EXECUTE FUNCTION "note_site_session_end"();
CREATE TRIGGER "site_session_deleted" AFTER DELETE ON "site_session"
  FOR EACH ROW WHEN (OLD."ended_at" IS NULL) EXECUTE FUNCTION "note_site_session_end"();

-- The engine's sessions that live under a site session.
CREATE INDEX "oauth_artifact_site_session" ON "oauth_artifact"(("payload"->>'siteSessionId')) WHERE "model" = 'Session';
