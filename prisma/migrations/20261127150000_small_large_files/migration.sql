-- How much an object of Git LFS counts (docs/decisions/076): local storage uses a block of the disk for a file of one byte, and its rows
-- are larger than that. The same number is in core/hub/lfs/lfs-object.ts. A file that came by Xet has no location of its own.
-- The worker's recount corrects the sums of repositories that have small files, one repository at a time.
CREATE FUNCTION "lfs_object_bytes"(size_bytes BIGINT, location TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN location LIKE 'xet:%' THEN 0 ELSE greatest(size_bytes, 5000) END;
$$;

CREATE OR REPLACE FUNCTION "count_lfs_object"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    bytes BIGINT := CASE WHEN TG_OP = 'INSERT' THEN lfs_object_bytes(NEW.size_bytes, NEW.location)
        ELSE lfs_object_bytes(OLD.size_bytes, OLD.location) END;
BEGIN
    -- If the repository is being deleted, there is no row to change: the repository's own trigger subtracts all that it had.
    IF bytes = 0 THEN RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN UPDATE repo SET lfs_bytes = lfs_bytes + bytes WHERE id = NEW.repo_id;
    ELSE UPDATE repo SET lfs_bytes = greatest(0, lfs_bytes - bytes) WHERE id = OLD.repo_id;
    END IF;
    RETURN NULL;
END $$;
