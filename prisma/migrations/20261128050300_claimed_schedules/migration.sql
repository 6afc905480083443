-- The schedules that a worker has claimed (S128).
CREATE INDEX CONCURRENTLY "scheduled_job_claimed" ON "scheduled_job"("claimed_until") WHERE NOT "is_suspended" AND "claimed_until" IS NOT NULL;
