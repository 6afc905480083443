-- The due replays of each user (S128).
CREATE INDEX CONCURRENTLY "webhook_replay_party_due" ON "webhook_replay"((COALESCE("created_by_id", "owner_id")), "due_at") WHERE "finished_at" IS NULL;
