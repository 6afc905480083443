-- A repository may have files of Xet and no xorbs: empty ones consist of none.
CREATE OR REPLACE FUNCTION "note_xet_removal"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM xet_xorb WHERE repo_id = OLD.id) OR EXISTS (SELECT FROM xet_file WHERE repo_id = OLD.id) THEN
        INSERT INTO xet_removal (repo_id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
-- Those of repositories that were deleted before.
INSERT INTO xet_removal (repo_id)
    SELECT DISTINCT f.repo_id FROM xet_file f WHERE NOT EXISTS (SELECT FROM repo r WHERE r.id = f.repo_id)
    ON CONFLICT DO NOTHING;
