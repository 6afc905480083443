-- ---- the audit log: a chain of hashes (S116, docs/decisions/046) -----------------------------------------------------

-- The token that a request came with, if it did: {type, id, name?, last4?}.
ALTER TABLE "audit_event" ADD COLUMN "token" JSONB;

-- One place in the chain for each entry. `content_hash` is of the entry, `hash` of this row with the `hash` of the one before: the
-- chain holds also when the contents of old entries are gone.
CREATE TABLE "audit_seal" (
    "seq" BIGINT NOT NULL,
    "event_id" TEXT NOT NULL,
    "event_created_at" TIMESTAMPTZ(3) NOT NULL,
    "content_hash" BYTEA NOT NULL,
    "previous_hash" BYTEA NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "audit_seal_pkey" PRIMARY KEY ("seq"),
    CONSTRAINT "audit_seal_hashes" CHECK (octet_length("content_hash") = 32 AND octet_length("previous_hash") = 32 AND octet_length("hash") = 32)
);
CREATE UNIQUE INDEX "audit_seal_event_id_key" ON "audit_seal"("event_id");

-- Entries that wait for their seal. A row is seen when the transaction of its entry has committed, however long that took, so that
-- none is passed over; numbers or times that are given before the commit would not say that.
CREATE TABLE "audit_unsealed" (
    "event_id" TEXT NOT NULL,

    CONSTRAINT "audit_unsealed_pkey" PRIMARY KEY ("event_id")
);
INSERT INTO "audit_unsealed" SELECT "id" FROM "audit_event";

CREATE FUNCTION "await_audit_seal"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit_unsealed (event_id) VALUES (NEW.id);
    RETURN NULL;
END
$$;
CREATE TRIGGER "audit_event_awaits_seal" AFTER INSERT ON "audit_event" FOR EACH ROW EXECUTE FUNCTION "await_audit_seal"();

-- ---- append-only, whoever asks ---------------------------------------------------------------------------------------

-- The service's own role lacks the right to begin with (core/postgres/grant-to-service.ts). These hold where one role does everything,
-- and against slips of the owner. Old contents go by the function below alone.
CREATE OR REPLACE FUNCTION "refuse_audit_event_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'audit_event' AND current_setting('keyhook.audit_expiry', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER "audit_event_no_truncate" BEFORE TRUNCATE ON "audit_event" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_audit_event_change"();
CREATE TRIGGER "audit_seal_append_only" BEFORE UPDATE OR DELETE ON "audit_seal" FOR EACH ROW EXECUTE FUNCTION "refuse_audit_event_change"();
CREATE TRIGGER "audit_seal_no_truncate" BEFORE TRUNCATE ON "audit_seal" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_audit_event_change"();

-- Removes the contents of sealed entries that are older than `keep_days`, at most `max_rows` of them, and says so in the log itself.
-- Their seals stay. Never anything younger than 90 days: with the rights of the service nobody can wipe out fresh traces.
-- It runs with its owner's rights, and is the only way.
CREATE FUNCTION "expire_audit_events"("keep_days" INTEGER, "max_rows" INTEGER, "new_event_id" TEXT)
RETURNS BIGINT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    removed BIGINT;
BEGIN
    IF keep_days IS NULL OR keep_days < 90 THEN
        RAISE EXCEPTION 'the audit log is kept for at least 90 days';
    END IF;
    PERFORM set_config('keyhook.audit_expiry', 'on', true);
    WITH old AS (
        SELECT e.id FROM audit_event e JOIN audit_seal s ON s.event_id = e.id
        WHERE e.created_at < now() - make_interval(days => keep_days)
        ORDER BY e.created_at LIMIT max_rows
    ), gone AS (
        DELETE FROM audit_event e USING old WHERE e.id = old.id RETURNING e.id
    )
    SELECT count(*) INTO removed FROM gone;
    PERFORM set_config('keyhook.audit_expiry', 'off', true);
    IF removed > 0 THEN
        INSERT INTO audit_event (id, type, data)
        VALUES (new_event_id, 'audit_log.expire', jsonb_build_object('count', removed, 'keepDays', keep_days));
    END IF;
    RETURN removed;
END
$$;
-- What it names is looked for where it was made, and never first in a temporary schema that its caller fills.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION expire_audit_events(INTEGER, INTEGER, TEXT) SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;
REVOKE ALL ON FUNCTION "expire_audit_events"(INTEGER, INTEGER, TEXT) FROM PUBLIC;

-- ---- reading: the newest first, from where one left off --------------------------------------------------------------

DROP INDEX "audit_event_org_id_created_at_idx";
DROP INDEX "audit_event_actor_id_created_at_idx";
DROP INDEX "audit_event_created_at_idx";
CREATE INDEX "audit_event_created_at_id_idx" ON "audit_event"("created_at", "id");
CREATE INDEX "audit_event_of_org" ON "audit_event"("org_id", "created_at", "id") WHERE "org_id" IS NOT NULL;
CREATE INDEX "audit_event_of_org_by_type" ON "audit_event"("org_id", "type", "created_at", "id") WHERE "org_id" IS NOT NULL;
CREATE INDEX "audit_event_of_actor" ON "audit_event"("actor_id", "created_at", "id") WHERE "actor_id" IS NOT NULL;
CREATE INDEX "audit_event_of_subject" ON "audit_event"("subject_id", "created_at", "id") WHERE "subject_id" IS NOT NULL;

-- ---- tokens that an organization has cut off -------------------------------------------------------------------------

-- The token still stands for its person elsewhere; here it counts as one that the organization has not let in. `token_id` is a
-- personal token's, or the Grant's of an OAuth token, so that what it is renewed into is cut off too.
CREATE TABLE "organization_revoked_token" (
    "org_id" TEXT NOT NULL,
    "token_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "revoked_by_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organization_revoked_token_pkey" PRIMARY KEY ("org_id", "token_id"),
    CONSTRAINT "organization_revoked_token_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "organization_revoked_token_token_id_idx" ON "organization_revoked_token"("token_id");
