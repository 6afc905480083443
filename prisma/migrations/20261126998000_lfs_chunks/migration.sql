-- Files that came by Git LFS, as chunks (docs/decisions/085): a xorb may be a part of a file, which storage has without the headers of chunks.
ALTER TABLE "xet_xorb" ADD COLUMN "has_headers" BOOLEAN NOT NULL DEFAULT true, ADD COLUMN "starts_at" BIGINT NOT NULL DEFAULT 0;
-- Whoever adds a row must say which: bytes that are read in the wrong way would be another file.
ALTER TABLE "xet_xorb" ALTER COLUMN "has_headers" DROP DEFAULT, ALTER COLUMN "starts_at" DROP DEFAULT;

-- When a file's chunks are looked for; null once they are known.
ALTER TABLE "lfs_object" ADD COLUMN "chunks_due_at" TIMESTAMPTZ(3) DEFAULT now();
UPDATE "lfs_object" SET "chunks_due_at" = NULL WHERE "location" LIKE 'xet:%';
CREATE INDEX "lfs_object_chunks_due_idx" ON "lfs_object"("repo_id", "chunks_due_at") WHERE "chunks_due_at" IS NOT NULL;

-- Owners who have such files, in turn.
CREATE TABLE "lfs_chunking" (
    "id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "lfs_chunking_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "lfs_chunking_due_at_idx" ON "lfs_chunking"("due_at");

-- The time always changes, so that the worker, which compares it, does not remove a row for which it has not seen the newest file. In the
-- order of the ids, so that two statements do not wait for each other.
CREATE FUNCTION "plan_lfs_chunking"(owners TEXT[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO lfs_chunking (id, due_at) SELECT o, clock_timestamp() FROM (SELECT DISTINCT unnest(owners) ORDER BY 1) each(o)
        ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at;
$$;
CREATE FUNCTION "plan_lfs_chunks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'lfs_object' THEN
        PERFORM plan_lfs_chunking(ARRAY(
            SELECT r.owner_id FROM added a JOIN repo r ON r.id = a.repo_id WHERE a.chunks_due_at IS NOT NULL));
    ELSIF EXISTS (SELECT FROM lfs_object WHERE repo_id = NEW.id AND chunks_due_at IS NOT NULL) THEN
        PERFORM plan_lfs_chunking(ARRAY[NEW.owner_id]);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "lfs_object_planned" AFTER INSERT ON "lfs_object"
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION "plan_lfs_chunks"();
CREATE TRIGGER "lfs_repo_moved" AFTER UPDATE OF "owner_id" ON "repo"
    FOR EACH ROW WHEN (NEW.owner_id <> OLD.owner_id) EXECUTE FUNCTION "plan_lfs_chunks"();
SELECT plan_lfs_chunking(ARRAY(SELECT r.owner_id FROM lfs_object o JOIN repo r ON r.id = o.repo_id WHERE o.chunks_due_at IS NOT NULL));

-- Such a xorb takes no room of its own while its repository has the file. If the file is deleted, but another one still consists of its
-- chunks, then its bytes count as the xorb's: otherwise they would be stored without being counted.
CREATE FUNCTION "xet_xorb_bytes"(of_repo TEXT, of_location TEXT, chunks BYTEA) RETURNS BIGINT LANGUAGE plpgsql STABLE AS $$
DECLARE
    row_bytes BIGINT := octet_length(chunks) + 400;
    at INTEGER := octet_length(chunks) - 4;
BEGIN
    IF EXISTS (SELECT FROM lfs_object WHERE repo_id = of_repo AND location = of_location) THEN RETURN row_bytes; END IF;
    -- Where the last chunk ends in the data (core/hub/xet/check-xorb.ts).
    RETURN row_bytes + get_byte(chunks, at) + (get_byte(chunks, at + 1) << 8) + (get_byte(chunks, at + 2) << 16)
        + (get_byte(chunks, at + 3)::BIGINT << 24);
END $$;
CREATE FUNCTION "size_xet_xorb"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.size_bytes := xet_xorb_bytes(NEW.repo_id, NEW.location, NEW.chunks);
    RETURN NEW;
END $$;
CREATE TRIGGER "xet_xorb_sized" BEFORE INSERT ON "xet_xorb" FOR EACH ROW WHEN (NOT NEW.has_headers) EXECUTE FUNCTION "size_xet_xorb"();
CREATE FUNCTION "size_xet_xorbs"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Those of a repository that is being deleted go with it.
    WITH sized AS (
        UPDATE xet_xorb x SET size_bytes = xet_xorb_bytes(x.repo_id, x.location, x.chunks) FROM changed c
            WHERE x.location = c.location AND x.repo_id = c.repo_id AND NOT x.has_headers
                AND EXISTS (SELECT FROM repo WHERE id = c.repo_id)
            RETURNING x.repo_id, x.hash, x.size_bytes
    ), delta AS (
        SELECT s.repo_id, sum(s.size_bytes - x.size_bytes)::BIGINT AS bytes FROM sized s JOIN xet_xorb x USING (repo_id, hash) GROUP BY 1
    )
    UPDATE repo r SET lfs_bytes = greatest(0, r.lfs_bytes + d.bytes) FROM delta d WHERE r.id = d.repo_id AND d.bytes <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER "lfs_object_added" AFTER INSERT ON "lfs_object"
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "size_xet_xorbs"();
CREATE TRIGGER "lfs_object_removed" AFTER DELETE ON "lfs_object"
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "size_xet_xorbs"();
