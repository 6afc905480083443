-- When a replay of each user was claimed last (S128).
CREATE INDEX CONCURRENTLY "webhook_replay_party_served" ON "webhook_replay"((COALESCE("created_by_id", "owner_id")), "served_at");
