-- The address of a visit to a private or gated Space lets in whoever has it, and the app's own script can read it and hand it on. So that
-- nobody keeps reading by another visitor's address after they lost their own access, every loss of access ends all visits of the
-- Spaces that it concerns: the address names this number (docs/decisions/077-answers-secrets-and-throttles.md). Triggers, since
-- access ends in many places, by cascades too.
ALTER TABLE "space_runtime" ADD COLUMN "visitor_generation" INTEGER NOT NULL DEFAULT 0;

-- Rows are locked in one order: two members who go at once must not wait for each other.
CREATE FUNCTION "end_space_visits"("repos" TEXT[]) RETURNS void LANGUAGE sql AS $$
  UPDATE "space_runtime" SET "visitor_generation" = "visitor_generation" + 1
  WHERE "repo_id" IN (SELECT "repo_id" FROM "space_runtime" WHERE "repo_id" = ANY("repos") ORDER BY "repo_id" FOR UPDATE)
$$;

CREATE FUNCTION "end_space_visits_of_organization"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "end_space_visits"(ARRAY(SELECT "id" FROM "repo" WHERE "owner_id" = OLD."org_id" AND "type" = 'space'));
  RETURN NULL;
END $$;
CREATE TRIGGER "end_space_visits_member_removed" AFTER DELETE ON "membership" FOR EACH ROW
  EXECUTE FUNCTION "end_space_visits_of_organization"();

CREATE FUNCTION "end_space_visits_of_gate"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "end_space_visits"(ARRAY[OLD."repo_id"]);
  RETURN NULL;
END $$;
CREATE TRIGGER "end_space_visits_request_deleted" AFTER DELETE ON "access_request" FOR EACH ROW
  WHEN (OLD."status" = 'accepted') EXECUTE FUNCTION "end_space_visits_of_gate"();
CREATE TRIGGER "end_space_visits_request_refused" AFTER UPDATE OF "status" ON "access_request" FOR EACH ROW
  WHEN (OLD."status" = 'accepted' AND NEW."status" <> 'accepted') EXECUTE FUNCTION "end_space_visits_of_gate"();

CREATE FUNCTION "end_space_visits_of_user"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "end_space_visits"(ARRAY(
    SELECT "id" FROM "repo" WHERE "type" = 'space'
      AND "owner_id" IN (SELECT OLD."id" UNION SELECT "org_id" FROM "membership" WHERE "user_id" = OLD."id")
    UNION
    SELECT "repo_id" FROM "access_request" WHERE "user_id" = OLD."id" AND "status" = 'accepted'));
  RETURN NULL;
END $$;
CREATE TRIGGER "end_space_visits_user_disabled" AFTER UPDATE OF "disabled_at" ON "user" FOR EACH ROW
  WHEN (OLD."disabled_at" IS NULL AND NEW."disabled_at" IS NOT NULL) EXECUTE FUNCTION "end_space_visits_of_user"();

CREATE FUNCTION "end_space_visits_of_repo"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "end_space_visits"(ARRAY[OLD."id"]);
  RETURN NULL;
END $$;
CREATE TRIGGER "end_space_visits_readers_changed" AFTER UPDATE OF "owner_id", "is_private", "gated" ON "repo" FOR EACH ROW
  WHEN (OLD."type" = 'space' AND (OLD."owner_id", OLD."is_private", OLD."gated") IS DISTINCT FROM (NEW."owner_id", NEW."is_private", NEW."gated"))
  EXECUTE FUNCTION "end_space_visits_of_repo"();
