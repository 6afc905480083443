-- At an automatic gate, anybody can withdraw a request and send it again, so this must not end the visits of others (S137).
CREATE OR REPLACE FUNCTION "end_space_visits_of_gate"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('keyhook.is_withdrawn', true), '') <> 'on' OR EXISTS (SELECT FROM "repo" WHERE "id" = OLD."repo_id" AND "gated" <> 'auto') THEN
    PERFORM "end_space_visits"(ARRAY[OLD."repo_id"]);
  END IF;
  RETURN NULL;
END $$;
