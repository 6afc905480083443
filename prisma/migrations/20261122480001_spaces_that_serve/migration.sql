-- Spaces that serve (docs/decisions/057-spaces.md).

-- What runs is of a generation: every restart, push and change of a variable begins another. What a worker records of an earlier one
-- changes nothing.
ALTER TABLE "space_runtime" ADD COLUMN "generation" INTEGER NOT NULL DEFAULT 0;
-- NULL: the flavor's own.
ALTER TABLE "space_runtime" ADD COLUMN "sleep_seconds" INTEGER;
-- Counts the addresses for receivers of a private Space that were taken back.
ALTER TABLE "space_runtime" ADD COLUMN "receiver_generation" INTEGER NOT NULL DEFAULT 0;
CREATE INDEX "space_runtime_wanted" ON "space_runtime"("due_at") WHERE "is_wanted";

CREATE TABLE "space_log" (
    "repo_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "text" TEXT NOT NULL,

    CONSTRAINT "space_log_pkey" PRIMARY KEY ("repo_id", "id"),
    CONSTRAINT "space_log_repo_id_fkey" FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "space_variable" (
    "repo_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "is_secret" BOOLEAN NOT NULL,
    "value" BYTEA NOT NULL,
    "description" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "space_variable_pkey" PRIMARY KEY ("repo_id", "name"),
    CONSTRAINT "space_variable_repo_id_fkey" FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- A Space's default branch moved, by whatever: a push, a commit over the API, a merge, another default branch. What runs is out of date
-- from the moment at which that commits, and nobody has to look for it. A Space that was paused stays so.
CREATE FUNCTION "space_head_moved"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "space_runtime" ("repo_id", "stage", "is_wanted") VALUES (NEW."id", 'BUILDING', true)
  ON CONFLICT ("repo_id") DO UPDATE SET
    "generation" = "space_runtime"."generation" + 1, "restarts" = 0, "updated_at" = now(), "due_at" = now(), "message" = NULL,
    "stage" = CASE WHEN "space_runtime"."stage" = 'PAUSED' THEN 'PAUSED' ELSE 'BUILDING' END,
    "is_wanted" = "space_runtime"."stage" <> 'PAUSED';
  PERFORM pg_notify('space', NEW."id");
  RETURN NULL;
END $$;
CREATE TRIGGER "space_head_moved_insert" AFTER INSERT ON "repo" FOR EACH ROW
  WHEN (NEW."type" = 'space' AND NEW."head_sha" IS NOT NULL AND NEW."platform_id" IS NULL) EXECUTE FUNCTION "space_head_moved"();
CREATE TRIGGER "space_head_moved_update" AFTER UPDATE OF "head_sha", "sdk" ON "repo" FOR EACH ROW
  WHEN (NEW."type" = 'space' AND NEW."head_sha" IS NOT NULL AND NEW."platform_id" IS NULL
    AND (NEW."head_sha" IS DISTINCT FROM OLD."head_sha" OR NEW."sdk" IS DISTINCT FROM OLD."sdk"))
  EXECUTE FUNCTION "space_head_moved"();

INSERT INTO "space_runtime" ("repo_id", "stage")
  SELECT "id", 'BUILDING' FROM "repo" WHERE "type" = 'space' AND "head_sha" IS NOT NULL AND "platform_id" IS NULL
  ON CONFLICT DO NOTHING;
