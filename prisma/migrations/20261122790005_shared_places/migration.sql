-- Places for jobs and Spaces are shared among those who want them (decision 072): claims ask who holds how many, who was served when, and
-- for the longest due of one party.
ALTER TABLE "job_run" ADD COLUMN "served_at" TIMESTAMPTZ(3);
CREATE INDEX "job_run_party_served" ON "job_run"((COALESCE("created_by_id", "owner_id")), "served_at");
CREATE INDEX "job_run_party_due" ON "job_run"((COALESCE("created_by_id", "owner_id")), "due_at") WHERE "finished_at" IS NULL;
CREATE INDEX "job_run_claimed" ON "job_run"("claimed_until") WHERE "finished_at" IS NULL AND "claimed_until" IS NOT NULL;

ALTER TABLE "space_runtime" ADD COLUMN "owner_id" TEXT, ADD COLUMN "served_at" TIMESTAMPTZ(3);
UPDATE "space_runtime" AS s SET "owner_id" = r."owner_id" FROM "repo" AS r WHERE r."id" = s."repo_id";
ALTER TABLE "space_runtime" ALTER COLUMN "owner_id" SET NOT NULL;
CREATE INDEX "space_runtime_owner_served" ON "space_runtime"("owner_id", "served_at");
CREATE INDEX "space_runtime_owner_due" ON "space_runtime"("owner_id", "due_at") WHERE "is_wanted";
CREATE INDEX "space_runtime_claimed" ON "space_runtime"("claimed_until") WHERE "is_wanted" AND "claimed_until" IS NOT NULL;

-- Whoever writes a row, the version before this one too: its owner is its repository's.
CREATE FUNCTION "set_space_owner"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."owner_id" := (SELECT "owner_id" FROM "repo" WHERE "id" = NEW."repo_id");
  RETURN NEW;
END $$;
CREATE TRIGGER "space_owner_set" BEFORE INSERT ON "space_runtime" FOR EACH ROW EXECUTE FUNCTION "set_space_owner"();

CREATE FUNCTION "move_space_owner"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "space_runtime" SET "owner_id" = NEW."owner_id" WHERE "repo_id" = NEW."id";
  RETURN NULL;
END $$;
CREATE TRIGGER "space_owner_moved" AFTER UPDATE OF "owner_id" ON "repo" FOR EACH ROW
  WHEN (NEW."type" = 'space' AND NEW."owner_id" IS DISTINCT FROM OLD."owner_id") EXECUTE FUNCTION "move_space_owner"();
