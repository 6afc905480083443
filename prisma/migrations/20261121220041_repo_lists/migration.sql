-- Lists of repositories: one index a way to look at them, read backwards for the latest first, so that a page costs a page however
-- many repositories there are (core/hub/repos/list-repos.ts).
DROP INDEX "repo_type_is_private_updated_at_id_idx";
CREATE INDEX "repo_type_is_private_updated_at_id_idx" ON "repo"("type", "is_private", "updated_at", "id");
CREATE INDEX "repo_type_is_private_created_at_id_idx" ON "repo"("type", "is_private", "created_at", "id");
DROP INDEX "repo_owner_id_updated_at_idx";
CREATE INDEX "repo_owner_id_type_is_private_updated_at_id_idx" ON "repo"("owner_id", "type", "is_private", "updated_at", "id");
CREATE INDEX "repo_tags_idx" ON "repo" USING gin ("tags");

-- The beginning of a name, in any spelling.
CREATE INDEX "repo_name_prefix_idx" ON "repo" (lower("name") text_pattern_ops);

-- Any part of a name. The extension comes with PostgreSQL; where it was left out, or this role may not add it, searching is slower
-- and otherwise the same.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX "repo_name_trigrams_idx" ON "repo" USING gin (lower("name") gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'pg_trgm is not available: %', SQLERRM;
END $$;

-- What a deleted account leaves behind is found by its id.
CREATE INDEX "comment_reaction_user_id_idx" ON "comment_reaction"("user_id");
