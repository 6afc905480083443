-- The replays that a worker has claimed (S128).
CREATE INDEX CONCURRENTLY "webhook_replay_claimed" ON "webhook_replay"("claimed_until") WHERE "finished_at" IS NULL AND "claimed_until" IS NOT NULL;
