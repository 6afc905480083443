-- For the end of an account: the publishers that the user added (S112).
CREATE INDEX CONCURRENTLY "trusted_publisher_created_by_id_idx" ON "trusted_publisher"("created_by_id");
