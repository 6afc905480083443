-- What a run is made of counts with its output: half a megabyte of variables for each run was kept for 30 days, and nothing bounded how many
-- runs one account had made and cancelled (docs/decisions/076-storage-quotas.md).
ALTER TABLE "job_run" ADD COLUMN "record_bytes" INTEGER NOT NULL GENERATED ALWAYS AS
  (octet_length("spec"::text) + COALESCE(octet_length("secrets"), 0) + COALESCE(octet_length("payload"), 0)) STORED;

CREATE OR REPLACE FUNCTION "count_job_log"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before BIGINT := 0;
    after BIGINT := 0;
BEGIN
    IF TG_OP <> 'INSERT' THEN before := OLD.log_bytes + OLD.record_bytes; END IF;
    IF TG_OP <> 'DELETE' THEN after := NEW.log_bytes + NEW.record_bytes; END IF;
    PERFORM add_storage_use(CASE WHEN TG_OP = 'DELETE' THEN OLD.owner_id ELSE NEW.owner_id END, 'logs', after - before);
    RETURN NULL;
END $$;
DROP TRIGGER "job_run_counted" ON "job_run";
CREATE TRIGGER "job_run_counted" AFTER INSERT OR DELETE OR UPDATE OF "log_bytes", "spec", "secrets", "payload" ON "job_run"
    FOR EACH ROW EXECUTE FUNCTION "count_job_log"();
INSERT INTO "storage_use" AS s ("owner_id", "kind", "bytes")
    SELECT "owner_id", 'logs', sum("record_bytes") FROM "job_run" GROUP BY 1
    ON CONFLICT ("owner_id", "kind", "part") DO UPDATE SET "bytes" = s."bytes" + excluded."bytes";
