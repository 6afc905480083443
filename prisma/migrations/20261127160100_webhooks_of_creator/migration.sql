-- The webhooks that one user created are counted.
CREATE INDEX CONCURRENTLY "webhook_created_by_id_idx" ON "webhook"("created_by_id");
