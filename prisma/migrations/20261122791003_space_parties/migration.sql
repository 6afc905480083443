-- A Space of an organization counts against the account that made or last restarted it: one person may have a great many organizations,
-- and each was a party of its own (decision 072).
ALTER TABLE "space_runtime" ADD COLUMN "started_by_id" TEXT;
UPDATE "space_runtime" AS s SET "started_by_id" = r."created_by_id" FROM "repo" AS r
  WHERE r."id" = s."repo_id" AND r."owner_kind" = 'organization';
DROP INDEX "space_runtime_owner_served";
DROP INDEX "space_runtime_owner_due";
CREATE INDEX "space_runtime_party_served" ON "space_runtime"((COALESCE("started_by_id", "owner_id")), "served_at");
CREATE INDEX "space_runtime_party_due" ON "space_runtime"((COALESCE("started_by_id", "owner_id")), "due_at") WHERE "is_wanted";

CREATE OR REPLACE FUNCTION "set_space_owner"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT "owner_id", CASE WHEN "owner_kind" = 'organization' THEN "created_by_id" END INTO NEW."owner_id", NEW."started_by_id"
    FROM "repo" WHERE "id" = NEW."repo_id";
  RETURN NEW;
END $$;

-- Moved to an organization, it still counts against the person whose it was.
CREATE OR REPLACE FUNCTION "move_space_owner"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "space_runtime" SET "owner_id" = NEW."owner_id", "started_by_id" = CASE
    WHEN NEW."owner_kind" = 'user' THEN NULL WHEN OLD."owner_kind" = 'user' THEN OLD."owner_id" ELSE "started_by_id" END
  WHERE "repo_id" = NEW."id";
  RETURN NULL;
END $$;
