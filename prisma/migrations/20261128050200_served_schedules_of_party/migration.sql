-- When a schedule of each user was claimed last (S128).
CREATE INDEX CONCURRENTLY "scheduled_job_party_served" ON "scheduled_job"((COALESCE("created_by_id", "owner_id")), "served_at");
