-- Schedules of one user, also those of the user's organizations, take turns with those of others (S128).
ALTER TABLE "scheduled_job" ADD COLUMN "served_at" TIMESTAMPTZ(3);
