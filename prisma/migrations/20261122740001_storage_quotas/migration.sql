-- Storage quotas (docs/decisions/076-storage-quotas.md).

-- How much an owner stores, by kind. Triggers keep it in the transaction of the change, so that a rollback, a cascade or a killed
-- process cannot part the two.
CREATE TABLE "storage_use" (
    "owner_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "part" TEXT NOT NULL DEFAULT '',
    "bytes" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "storage_use_pkey" PRIMARY KEY ("owner_id", "kind", "part")
) WITH (fillfactor = 70);

-- What an operator has set for one owner, in place of the setting; null is without limit.
CREATE TABLE "storage_quota" (
    "owner_id" TEXT NOT NULL,
    "bytes" BIGINT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "storage_quota_pkey" PRIMARY KEY ("owner_id")
);

-- What is being uploaded, and what was deleted and is still on the disk.
CREATE TABLE "storage_hold" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "is_removed" BOOLEAN NOT NULL DEFAULT false,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "storage_hold_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "storage_hold_owner_id_idx" ON "storage_hold"("owner_id");
CREATE INDEX "storage_hold_expires_at_idx" ON "storage_hold"("expires_at");

-- What is taken away makes no row: an owner who is being deleted must not get one back.
CREATE FUNCTION "add_storage_use"("of_owner" TEXT, "of_kind" TEXT, "delta" BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF delta > 0 THEN
        INSERT INTO storage_use AS s (owner_id, kind, bytes) VALUES (of_owner, of_kind, delta)
            ON CONFLICT (owner_id, kind, part) DO UPDATE SET bytes = s.bytes + excluded.bytes;
    ELSIF delta < 0 THEN
        UPDATE storage_use SET bytes = greatest(0, bytes + delta) WHERE owner_id = of_owner AND kind = of_kind AND part = '';
    END IF;
END $$;

-- ---- git and Git LFS: what the repositories of an owner have ------------------------------------------------------------

ALTER TABLE "repo" ADD COLUMN "lfs_bytes" BIGINT NOT NULL DEFAULT 0;
UPDATE "repo" r SET "lfs_bytes" = l.bytes
    FROM (SELECT repo_id, sum(size_bytes)::BIGINT AS bytes FROM lfs_object GROUP BY repo_id) l WHERE l.repo_id = r.id;

CREATE FUNCTION "count_lfs_object"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Where its repository is being deleted there is no row to change: the repository's own trigger gives back all it had.
    IF TG_OP = 'INSERT' THEN UPDATE repo SET lfs_bytes = lfs_bytes + NEW.size_bytes WHERE id = NEW.repo_id;
    ELSE UPDATE repo SET lfs_bytes = greatest(0, lfs_bytes - OLD.size_bytes) WHERE id = OLD.repo_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "lfs_object_counted" AFTER INSERT OR DELETE ON "lfs_object" FOR EACH ROW EXECUTE FUNCTION "count_lfs_object"();

CREATE FUNCTION "count_repo"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_storage_use(NEW.owner_id, 'git', NEW.size_bytes);
        PERFORM add_storage_use(NEW.owner_id, 'lfs', NEW.lfs_bytes);
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM add_storage_use(OLD.owner_id, 'git', -OLD.size_bytes);
        PERFORM add_storage_use(OLD.owner_id, 'lfs', -OLD.lfs_bytes);
        -- The bytes themselves go later: git's within minutes, those of Git LFS after two days. Whoever uploads and deletes in turn would
        -- otherwise fill the disk without ever being above their quota (hold_storage).
        IF OLD.size_bytes + OLD.lfs_bytes > 0 THEN
            INSERT INTO storage_hold (id, owner_id, bytes, is_removed, expires_at) VALUES ('removed ' || OLD.id, OLD.owner_id,
                OLD.size_bytes + OLD.lfs_bytes, true, now() + CASE WHEN OLD.lfs_bytes > 0 THEN interval '49 hours' ELSE interval '5 minutes' END)
                ON CONFLICT (id) DO NOTHING;
        END IF;
    ELSIF NEW.owner_id = OLD.owner_id THEN
        PERFORM add_storage_use(NEW.owner_id, 'git', NEW.size_bytes - OLD.size_bytes);
        PERFORM add_storage_use(NEW.owner_id, 'lfs', NEW.lfs_bytes - OLD.lfs_bytes);
    -- In the order of their ids, so that two moves in opposite directions do not wait for each other.
    ELSIF NEW.owner_id < OLD.owner_id THEN
        PERFORM add_storage_use(NEW.owner_id, 'git', NEW.size_bytes), add_storage_use(NEW.owner_id, 'lfs', NEW.lfs_bytes);
        PERFORM add_storage_use(OLD.owner_id, 'git', -OLD.size_bytes), add_storage_use(OLD.owner_id, 'lfs', -OLD.lfs_bytes);
    ELSE
        PERFORM add_storage_use(OLD.owner_id, 'git', -OLD.size_bytes), add_storage_use(OLD.owner_id, 'lfs', -OLD.lfs_bytes);
        PERFORM add_storage_use(NEW.owner_id, 'git', NEW.size_bytes), add_storage_use(NEW.owner_id, 'lfs', NEW.lfs_bytes);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "repo_counted" AFTER INSERT OR DELETE OR UPDATE OF "size_bytes", "lfs_bytes", "owner_id" ON "repo"
    FOR EACH ROW EXECUTE FUNCTION "count_repo"();

-- ---- job logs -----------------------------------------------------------------------------------------------------------

CREATE FUNCTION "count_job_log"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN PERFORM add_storage_use(OLD.owner_id, 'logs', -OLD.log_bytes);
    ELSE PERFORM add_storage_use(NEW.owner_id, 'logs', NEW.log_bytes - OLD.log_bytes);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "job_run_counted" AFTER DELETE OR UPDATE OF "log_bytes" ON "job_run" FOR EACH ROW EXECUTE FUNCTION "count_job_log"();
-- Whose logs are made room in: the oldest that has one.
CREATE INDEX "job_run_logged" ON "job_run"("owner_id", "id") WHERE "log_bytes" > 0;

-- ---- relay inboxes ------------------------------------------------------------------------------------------------------

-- The request and its answer.
CREATE FUNCTION "count_relay_request"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before BIGINT := 0;
    after BIGINT := 0;
BEGIN
    IF TG_OP <> 'INSERT' THEN before := OLD.bytes + coalesce(octet_length(OLD.answer_body), 0); END IF;
    IF TG_OP <> 'DELETE' THEN after := NEW.bytes + coalesce(octet_length(NEW.answer_body), 0); END IF;
    PERFORM add_storage_use(r.user_id, 'relay', after - before) FROM relay r
        WHERE r.id = CASE WHEN TG_OP = 'DELETE' THEN OLD.relay_id ELSE NEW.relay_id END;
    RETURN NULL;
END $$;
CREATE TRIGGER "relay_request_counted" AFTER INSERT OR DELETE OR UPDATE OF "answer_body" ON "relay_request"
    FOR EACH ROW EXECUTE FUNCTION "count_relay_request"();

-- Before its requests go with it: afterwards they do not know any more whose they were.
CREATE FUNCTION "count_relay"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_storage_use(OLD.user_id, 'relay', -(
        SELECT coalesce(sum(q.bytes + coalesce(octet_length(q.answer_body), 0)), 0)::BIGINT FROM relay_request q WHERE q.relay_id = OLD.id));
    RETURN OLD;
END $$;
CREATE TRIGGER "relay_counted" BEFORE DELETE ON "relay" FOR EACH ROW EXECUTE FUNCTION "count_relay"();

-- As before, and bounded over all relays of a person too.
DROP FUNCTION "take_relay_request"(TEXT, TEXT, TEXT, TEXT, JSON, BYTEA, TEXT, INTEGER, FLOAT8, INTEGER, BIGINT);
CREATE FUNCTION "take_relay_request"(
    "of_relay" TEXT, "new_id" TEXT, "its_method" TEXT, "its_path" TEXT, "its_headers" JSON, "its_body" BYTEA,
    "its_delivery" TEXT, "its_tries" INTEGER, "wait_seconds" FLOAT8, "count_max" INTEGER, "bytes_max" BIGINT,
    "person_bytes_max" BIGINT DEFAULT NULL, OUT "request_id" TEXT, OUT "is_listening" BOOLEAN
) LANGUAGE plpgsql AS $$
DECLARE
    until_then TIMESTAMPTZ;
    kept INTEGER;
    kept_bytes BIGINT;
    its_person TEXT;
    its_bytes INTEGER := octet_length(its_body) + octet_length(its_headers::TEXT) + octet_length(its_path);
BEGIN
    SELECT coalesce(r.listening_until > clock_timestamp(), false), r.user_id INTO is_listening, its_person
        FROM relay r WHERE r.id = of_relay FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    until_then := CASE WHEN is_listening THEN clock_timestamp() + make_interval(secs => wait_seconds) END;
    IF its_delivery IS NOT NULL THEN
        UPDATE relay_request q SET waited_until = until_then
            WHERE q.delivery_id = its_delivery AND q.answered_at IS NULL RETURNING q.id INTO request_id;
        IF FOUND THEN RETURN; END IF;
    END IF;
    SELECT count(*), coalesce(sum(q.bytes), 0) INTO kept, kept_bytes FROM relay_request q WHERE q.relay_id = of_relay;
    IF kept >= count_max OR kept_bytes + its_bytes > bytes_max THEN RETURN; END IF;
    IF person_bytes_max IS NOT NULL THEN
        -- Locked, so that of requests to several relays of one person each sees the others.
        SELECT coalesce(s.bytes, 0) INTO kept_bytes FROM storage_use s
            WHERE s.owner_id = its_person AND s.kind = 'relay' AND s.part = '' FOR NO KEY UPDATE;
        IF coalesce(kept_bytes, 0) + its_bytes > person_bytes_max THEN RETURN; END IF;
    END IF;
    INSERT INTO relay_request (id, relay_id, method, path, headers, body, bytes, received_at, is_from_inbox, waited_until,
        delivery_id, delivery_tries)
        VALUES (new_id, of_relay, its_method, its_path, its_headers, its_body, its_bytes, clock_timestamp(), NOT is_listening, until_then,
        its_delivery, its_tries);
    request_id := new_id;
    PERFORM pg_notify('relay', of_relay);
END $$;

-- ---- room for more ------------------------------------------------------------------------------------------------------

-- Whether an owner may store so many bytes more in repositories, and if so, puts them aside until they are counted or given up. Of any
-- number at the same time each sees the others. One round trip.
CREATE FUNCTION "hold_storage"(
    "of_owner" TEXT, "hold_ids" TEXT[], "hold_bytes" BIGINT[], "wanted" BIGINT, "default_quota" BIGINT, "hold_seconds" FLOAT8,
    OUT "is_held" BOOLEAN, OUT "used" BIGINT, OUT "held" BIGINT, OUT "removed" BIGINT, OUT "quota" BIGINT
) LANGUAGE plpgsql AS $$
DECLARE
    needed BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('storage ' || of_owner, 0));
    SELECT q.bytes INTO quota FROM storage_quota q WHERE q.owner_id = of_owner;
    IF NOT FOUND THEN quota := default_quota; END IF;
    SELECT coalesce(sum(s.bytes), 0) INTO used FROM storage_use s WHERE s.owner_id = of_owner AND s.kind IN ('git', 'lfs');
    -- An upload that is begun again takes the place of its first try. It never makes the hold smaller or shorter: the address that was
    -- given out for more bytes is still good.
    SELECT wanted + coalesce(sum(greatest(h.bytes - n.bytes, 0)), 0) INTO needed FROM unnest(hold_ids, hold_bytes) AS n(id, bytes)
        JOIN storage_hold h ON h.id = n.id AND h.expires_at > clock_timestamp();
    SELECT coalesce(sum(h.bytes) FILTER (WHERE NOT h.is_removed), 0), coalesce(sum(h.bytes) FILTER (WHERE h.is_removed), 0)
        INTO held, removed FROM storage_hold h
        WHERE h.owner_id = of_owner AND h.expires_at > clock_timestamp() AND h.id <> ALL (hold_ids);
    is_held := quota IS NULL OR (used + held + needed <= quota AND used + held + removed + needed <= 2 * quota);
    IF is_held AND quota IS NOT NULL THEN
        INSERT INTO storage_hold (id, owner_id, bytes, expires_at)
            SELECT h.id, of_owner, h.bytes, clock_timestamp() + make_interval(secs => hold_seconds)
            FROM unnest(hold_ids, hold_bytes) AS h(id, bytes)
            ON CONFLICT (id) DO UPDATE SET owner_id = excluded.owner_id,
                bytes = CASE WHEN storage_hold.expires_at > clock_timestamp() THEN greatest(storage_hold.bytes, excluded.bytes)
                    ELSE excluded.bytes END,
                expires_at = greatest(storage_hold.expires_at, excluded.expires_at);
    END IF;
END $$;

-- ---- what is there already ----------------------------------------------------------------------------------------------

INSERT INTO "storage_use" ("owner_id", "kind", "bytes")
    SELECT owner_id, 'git', sum(size_bytes)::BIGINT FROM repo GROUP BY owner_id HAVING sum(size_bytes) > 0
    UNION ALL SELECT owner_id, 'lfs', sum(lfs_bytes)::BIGINT FROM repo GROUP BY owner_id HAVING sum(lfs_bytes) > 0
    UNION ALL SELECT owner_id, 'logs', sum(log_bytes)::BIGINT FROM job_run GROUP BY owner_id HAVING sum(log_bytes) > 0
    UNION ALL SELECT r.user_id, 'relay', sum(q.bytes + coalesce(octet_length(q.answer_body), 0))::BIGINT
        FROM relay_request q JOIN relay r ON r.id = q.relay_id GROUP BY r.user_id;
INSERT INTO "storage_use" ("owner_id", "kind", "part", "bytes")
    SELECT owner_id, 'attempts', to_char(to_timestamp(('x' || left(id, 8))::BIT(32)::BIGINT) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
        sum(coalesce(octet_length(response_body), 0) + coalesce(octet_length(response_headers::TEXT), 0))::BIGINT
    FROM attempt WHERE response_headers IS NOT NULL GROUP BY 1, 3;
