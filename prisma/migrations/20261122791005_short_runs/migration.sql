-- Claims ask for a party's runs of at most 30 minutes, for which a place is kept, and for its longer ones (decision 055).
DROP INDEX "job_run_party_due";
CREATE INDEX "job_run_party_short" ON "job_run"((COALESCE("created_by_id", "owner_id")), "due_at")
  WHERE "finished_at" IS NULL AND COALESCE(("spec" ->> 'timeoutSeconds')::int, 1800) <= 1800;
CREATE INDEX "job_run_party_long" ON "job_run"((COALESCE("created_by_id", "owner_id")), "due_at")
  WHERE "finished_at" IS NULL AND COALESCE(("spec" ->> 'timeoutSeconds')::int, 1800) > 1800;
