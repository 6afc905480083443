-- The due schedules of each user (S128).
CREATE INDEX CONCURRENTLY "scheduled_job_party_due" ON "scheduled_job"((COALESCE("created_by_id", "owner_id")), "due_at") WHERE NOT "is_suspended";
