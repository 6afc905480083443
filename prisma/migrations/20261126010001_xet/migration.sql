-- Xet (docs/decisions/085): containers of chunks, files that consist of them, and the chunks that clients ask about.
CREATE TABLE "xet_xorb" (
    "repo_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "location" TEXT NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "chunks" BYTEA NOT NULL,
    "is_named" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "xet_xorb_pkey" PRIMARY KEY ("repo_id", "hash")
);
-- Hashes do not compress, and a part of the column is read without the rest.
ALTER TABLE "xet_xorb" ALTER COLUMN "chunks" SET STORAGE EXTERNAL;
CREATE INDEX "xet_xorb_location_idx" ON "xet_xorb"("location");
CREATE INDEX "xet_xorb_unnamed_idx" ON "xet_xorb"("created_at") WHERE NOT "is_named";

CREATE TABLE "xet_file" (
    "repo_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "oid" TEXT NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "terms" BYTEA NOT NULL,
    "record_bytes" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "xet_file_pkey" PRIMARY KEY ("repo_id", "hash")
);
CREATE INDEX "xet_file_repo_id_oid_idx" ON "xet_file"("repo_id", "oid");

CREATE TABLE "xet_chunk" (
    "repo_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "xorb_hash" TEXT NOT NULL,
    "file_hash" TEXT NOT NULL,

    CONSTRAINT "xet_chunk_pkey" PRIMARY KEY ("repo_id", "hash")
);

ALTER TABLE "xet_xorb" ADD CONSTRAINT "xet_xorb_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "xet_file" ADD CONSTRAINT "xet_file_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "xet_chunk" ADD CONSTRAINT "xet_chunk_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A file that came by Xet is an object of Git LFS without a place of its own: its xorbs are what is stored, counted and removed.
CREATE OR REPLACE FUNCTION "note_lfs_leftover"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD."location" LIKE 'xet:%' THEN RETURN NULL; END IF;
  INSERT INTO "lfs_leftover" ("location") VALUES (OLD."location")
    ON CONFLICT ("location") DO UPDATE SET "created_at" = CURRENT_TIMESTAMP;
  RETURN NULL;
END
$$;
CREATE TRIGGER "xet_xorb_deleted" AFTER DELETE ON "xet_xorb" FOR EACH ROW EXECUTE FUNCTION "note_lfs_leftover"();

CREATE OR REPLACE FUNCTION "count_lfs_object"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Where its repository is being deleted there is no row to change: the repository's own trigger gives back all it had.
    IF TG_OP = 'INSERT' THEN
        IF NEW."location" LIKE 'xet:%' THEN RETURN NULL; END IF;
        UPDATE repo SET lfs_bytes = lfs_bytes + NEW.size_bytes WHERE id = NEW.repo_id;
    ELSE
        IF OLD."location" LIKE 'xet:%' THEN RETURN NULL; END IF;
        UPDATE repo SET lfs_bytes = greatest(0, lfs_bytes - OLD.size_bytes) WHERE id = OLD.repo_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "xet_xorb_counted" AFTER INSERT OR DELETE ON "xet_xorb" FOR EACH ROW EXECUTE FUNCTION "count_lfs_object"();

-- What describes a file counts too: somebody could describe very many files that consist of one chunk.
CREATE FUNCTION "count_xet_file"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN UPDATE repo SET lfs_bytes = lfs_bytes + NEW.record_bytes WHERE id = NEW.repo_id;
    ELSE UPDATE repo SET lfs_bytes = greatest(0, lfs_bytes - OLD.record_bytes) WHERE id = OLD.repo_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "xet_file_counted" AFTER INSERT OR DELETE ON "xet_file" FOR EACH ROW EXECUTE FUNCTION "count_xet_file"();
