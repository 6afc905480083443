-- A user's Grants at all clients are counted.
CREATE INDEX CONCURRENTLY "oauth_grant_user_id_idx" ON "oauth_grant"("user_id");
