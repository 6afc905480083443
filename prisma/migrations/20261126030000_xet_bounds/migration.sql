-- What one upload by Xet, and one deletion, may cost (docs/decisions/085, S145).

-- A part of a file's description is read without the rest.
ALTER TABLE "xet_file" ALTER COLUMN "terms" SET STORAGE EXTERNAL;

-- A repository may have millions of these rows: its deletion only notes that there may be some, and they go in batches.
ALTER TABLE "xet_xorb" DROP CONSTRAINT "xet_xorb_repo_id_fkey";
ALTER TABLE "xet_file" DROP CONSTRAINT "xet_file_repo_id_fkey";
ALTER TABLE "xet_chunk" DROP CONSTRAINT "xet_chunk_repo_id_fkey";
CREATE TABLE "xet_removal" (
    "repo_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "xet_removal_pkey" PRIMARY KEY ("repo_id")
);
CREATE FUNCTION "note_xet_removal"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM xet_xorb WHERE repo_id = OLD.id) THEN
        INSERT INTO xet_removal (repo_id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "xet_repo_deleted" AFTER DELETE ON "repo" FOR EACH ROW EXECUTE FUNCTION "note_xet_removal"();

-- Once for each statement: two thousand files of a shard changed the repository's row, and its owner's, two thousand times.
DROP TRIGGER "xet_xorb_counted" ON "xet_xorb";
DROP TRIGGER "xet_file_counted" ON "xet_file";
DROP FUNCTION "count_xet_file"();
CREATE FUNCTION "count_xet_rows"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign INTEGER := CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    IF TG_TABLE_NAME = 'xet_xorb' THEN
        UPDATE repo r SET lfs_bytes = greatest(0, r.lfs_bytes + sign * c.bytes)
            FROM (SELECT repo_id, sum(size_bytes)::BIGINT AS bytes FROM changed GROUP BY repo_id) c WHERE r.id = c.repo_id;
    ELSE
        UPDATE repo r SET lfs_bytes = greatest(0, r.lfs_bytes + sign * c.bytes)
            FROM (SELECT repo_id, sum(record_bytes)::BIGINT AS bytes FROM changed GROUP BY repo_id) c WHERE r.id = c.repo_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "xet_xorb_added" AFTER INSERT ON "xet_xorb"
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_xet_rows"();
CREATE TRIGGER "xet_xorb_removed" AFTER DELETE ON "xet_xorb"
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_xet_rows"();
CREATE TRIGGER "xet_file_added" AFTER INSERT ON "xet_file"
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_xet_rows"();
CREATE TRIGGER "xet_file_removed" AFTER DELETE ON "xet_file"
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_xet_rows"();

-- Whoever stores something for an owner waits for others who do, but not for as long as a statement may take: each holds a connection.
ALTER FUNCTION "hold_storage" SET lock_timeout = '5s';
