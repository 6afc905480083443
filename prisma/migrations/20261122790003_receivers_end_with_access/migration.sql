-- Whoever knows the address to which webhooks post for a private or gated Space may post there and reads what the app answers. So it ends,
-- as visits do, when somebody who may have seen it leaves, and when the Space gets another owner, gate or visibility. Until now only its
-- managers could end it, by hand.
CREATE FUNCTION "end_receiver_addresses"("repos" TEXT[]) RETURNS void LANGUAGE sql AS $$
  UPDATE "space_runtime" SET "receiver_generation" = "receiver_generation" + 1
  WHERE "repo_id" IN (
    SELECT s."repo_id" FROM "space_runtime" s JOIN "repo" r ON r."id" = s."repo_id"
    WHERE s."repo_id" = ANY("repos") AND (r."is_private" OR r."gated" <> 'none') ORDER BY s."repo_id" FOR UPDATE OF s)
$$;

CREATE OR REPLACE FUNCTION "end_space_visits_of_organization"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  repos TEXT[] := ARRAY(SELECT "id" FROM "repo" WHERE "owner_id" = OLD."org_id" AND "type" = 'space');
BEGIN
  PERFORM "end_space_visits"(repos);
  PERFORM "end_receiver_addresses"(repos);
  RETURN NULL;
END $$;

-- Who was let in through a gate was never shown the address.
CREATE OR REPLACE FUNCTION "end_space_visits_of_user"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  repos TEXT[] := ARRAY(SELECT "id" FROM "repo" WHERE "type" = 'space'
    AND "owner_id" IN (SELECT OLD."id" UNION SELECT "org_id" FROM "membership" WHERE "user_id" = OLD."id"));
BEGIN
  PERFORM "end_space_visits"(repos || ARRAY(
    SELECT "repo_id" FROM "access_request" WHERE "user_id" = OLD."id" AND "status" = 'accepted'));
  PERFORM "end_receiver_addresses"(repos);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "end_space_visits_of_repo"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "end_space_visits"(ARRAY[OLD."id"]);
  PERFORM "end_receiver_addresses"(ARRAY[OLD."id"]);
  RETURN NULL;
END $$;
