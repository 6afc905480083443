-- What came before a change of refs is told by these times together: with those of processes, one whose clock is behind could have commits
-- that were pushed after the change "merged" by it (S137). The transaction's own time will not do: it may have waited for the repository.
ALTER TABLE "ref_update" ALTER COLUMN "started_at" SET DEFAULT clock_timestamp();
ALTER TABLE "discussion" ALTER COLUMN "created_at" SET DEFAULT clock_timestamp();
ALTER TABLE "event" ALTER COLUMN "created_at" SET DEFAULT clock_timestamp();
