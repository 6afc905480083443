-- A page of schedules ends by bytes too: a hundred jobs of a megabyte each took the memory and the time of a process
-- (core/jobs/schedules/list-schedules.ts).
ALTER TABLE "scheduled_job" ADD COLUMN "record_bytes" INTEGER NOT NULL GENERATED ALWAYS AS
  (octet_length("spec"::text) + COALESCE(octet_length("secrets"), 0)) STORED;
