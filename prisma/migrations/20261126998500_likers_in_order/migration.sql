-- The users who like a repository are listed in this order.
CREATE INDEX "repo_like_repo_id_created_at_idx" ON "repo_like"("repo_id", "created_at");
