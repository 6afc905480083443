-- What bounds each table: docs/security.md#what-bounds-each-table.

-- How much a repository counts besides large files. Git's folder of an empty one takes 36 KiB on disk, and the row contains the card, which
-- YAML can make much larger than its file. The same number is in core/storage/limits.ts. Repositories of other platforms and stores of
-- proposals have no folder. The worker's recount corrects the sums of owners from before.
CREATE FUNCTION "repo_bytes"(r repo) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT r.size_bytes + CASE WHEN r.platform_id IS NULL AND r.proposed_to_id IS NULL THEN 36864 + r.card_bytes ELSE 0 END;
$$;

CREATE OR REPLACE FUNCTION "count_repo"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_storage_use(NEW.owner_id, 'git', repo_bytes(NEW));
        PERFORM add_storage_use(NEW.owner_id, 'lfs', NEW.lfs_bytes);
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM add_storage_use(OLD.owner_id, 'git', -repo_bytes(OLD));
        PERFORM add_storage_use(OLD.owner_id, 'lfs', -OLD.lfs_bytes);
        -- The data itself is deleted later: git's within minutes, large files after two days. Otherwise, uploading and deleting in turn would
        -- fill the disk without ever exceeding the quota (hold_storage).
        IF repo_bytes(OLD) + OLD.lfs_bytes > 0 THEN
            INSERT INTO storage_hold (id, owner_id, bytes, is_removed, expires_at) VALUES ('removed ' || OLD.id, OLD.owner_id,
                repo_bytes(OLD) + OLD.lfs_bytes, true, now() + CASE WHEN OLD.lfs_bytes > 0 THEN interval '49 hours' ELSE interval '5 minutes' END)
                ON CONFLICT (id) DO NOTHING;
        END IF;
    ELSIF NEW.owner_id = OLD.owner_id THEN
        PERFORM add_storage_use(NEW.owner_id, 'git', repo_bytes(NEW) - repo_bytes(OLD));
        PERFORM add_storage_use(NEW.owner_id, 'lfs', NEW.lfs_bytes - OLD.lfs_bytes);
    -- In the order of their ids, so that two moves in opposite directions do not wait for each other.
    ELSIF NEW.owner_id < OLD.owner_id THEN
        PERFORM add_storage_use(NEW.owner_id, 'git', repo_bytes(NEW)), add_storage_use(NEW.owner_id, 'lfs', NEW.lfs_bytes);
        PERFORM add_storage_use(OLD.owner_id, 'git', -repo_bytes(OLD)), add_storage_use(OLD.owner_id, 'lfs', -OLD.lfs_bytes);
    ELSE
        PERFORM add_storage_use(OLD.owner_id, 'git', -repo_bytes(OLD)), add_storage_use(OLD.owner_id, 'lfs', -OLD.lfs_bytes);
        PERFORM add_storage_use(NEW.owner_id, 'git', repo_bytes(NEW)), add_storage_use(NEW.owner_id, 'lfs', NEW.lfs_bytes);
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER "repo_counted" ON "repo";
CREATE TRIGGER "repo_counted" AFTER INSERT OR DELETE OR UPDATE OF "size_bytes", "lfs_bytes", "owner_id", "card" ON "repo"
    FOR EACH ROW EXECUTE FUNCTION "count_repo"();
