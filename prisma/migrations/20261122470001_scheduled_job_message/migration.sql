-- Why a schedule did not run when it was due, or was suspended by itself, for its owner (docs/decisions/056).
ALTER TABLE "scheduled_job" ADD COLUMN "message" TEXT;
