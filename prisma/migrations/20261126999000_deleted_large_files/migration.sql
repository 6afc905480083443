-- The chunks of a file, which go with it.
CREATE INDEX "xet_chunk_repo_id_file_hash_idx" ON "xet_chunk"("repo_id", "file_hash");

-- The key of the repository first: a deletion of the file, which has the row's lock, has then ended, and is seen.
CREATE OR REPLACE FUNCTION "size_xet_xorb"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM repo WHERE id = NEW.repo_id FOR KEY SHARE;
    NEW.size_bytes := xet_xorb_bytes(NEW.repo_id, NEW.location, NEW.chunks);
    RETURN NEW;
END $$;
