-- A Space that a visitor woke waits for a place as long as somebody waits for it. Until now whoever asked for a sleeping Space and left had
-- a busy Space of somebody else end for it.
ALTER TABLE "space_runtime" ADD COLUMN "awaited_at" TIMESTAMPTZ(3);
CREATE INDEX "space_runtime_awaited" ON "space_runtime"("awaited_at") WHERE "is_wanted" AND "awaited_at" IS NOT NULL;

-- As before, and whoever pushes has it started: it waits for a place whether or not anybody asks for it.
CREATE OR REPLACE FUNCTION "space_head_moved"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "space_runtime" ("repo_id", "stage", "is_wanted") VALUES (NEW."id", 'BUILDING', true)
  ON CONFLICT ("repo_id") DO UPDATE SET
    "generation" = "space_runtime"."generation" + 1, "restarts" = 0, "updated_at" = now(), "due_at" = now(), "message" = NULL,
    "awaited_at" = NULL,
    "stage" = CASE WHEN "space_runtime"."stage" = 'PAUSED' THEN 'PAUSED' ELSE 'BUILDING' END,
    "is_wanted" = "space_runtime"."stage" <> 'PAUSED';
  PERFORM pg_notify('space', NEW."id");
  RETURN NULL;
END $$;
