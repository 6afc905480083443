-- The public collections that contain a repository, the latest addition first, and those of some owners.
CREATE INDEX CONCURRENTLY "collection_item_repo_id_private_of_added_at_idx" ON "collection_item"("repo_id", "private_of", "added_at");
