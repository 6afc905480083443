-- Webhooks that deliver, jobs that run, Spaces that serve (docs/decisions/048).

-- ---- events ------------------------------------------------------------------------------------------------------------

-- JSON keeps the very bytes that were written, which JSONB does not: every attempt of a delivery sends the same body (S124).
ALTER TABLE "event" ALTER COLUMN "payload" TYPE JSON USING "payload"::TEXT::JSON;
ALTER TABLE "event" ADD COLUMN "fanned_out_at" TIMESTAMPTZ(3);
ALTER TABLE "event" ADD COLUMN "is_test" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "event" ADD COLUMN "traceparent" TEXT;
-- Nobody was told of what happened before there was anybody to tell.
UPDATE "event" SET "fanned_out_at" = now();
CREATE INDEX "event_to_fan_out" ON "event"("created_at", "id") WHERE "fanned_out_at" IS NULL;

-- ---- webhooks ----------------------------------------------------------------------------------------------------------

ALTER TABLE "webhook"
    ADD COLUMN "secret" BYTEA,
    ADD COLUMN "previous_secret" BYTEA,
    ADD COLUMN "previous_secret_until" TIMESTAMPTZ(3),
    ADD COLUMN "job" JSONB,
    ADD COLUMN "job_secrets" BYTEA,
    ADD COLUMN "job_source_id" TEXT,
    ADD COLUMN "disabled_reason" TEXT,
    ADD COLUMN "failing_since" TIMESTAMPTZ(3),
    ADD COLUMN "created_by_id" TEXT,
    ADD COLUMN "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- What each webhook did, hour by hour: the limit of triggers (S127), sparklines and charts read this and count nothing.
CREATE TABLE "webhook_hour" (
    "webhook_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "triggered" INTEGER NOT NULL DEFAULT 0,
    "rate_limited" INTEGER NOT NULL DEFAULT 0,
    "delivered" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "latencies" INTEGER[],

    CONSTRAINT "webhook_hour_pkey" PRIMARY KEY ("webhook_id", "hour")
) WITH (fillfactor = 70);
CREATE INDEX "webhook_hour_hour_idx" ON "webhook_hour"("hour");

-- ---- deliveries and attempts -------------------------------------------------------------------------------------------

-- An id begins with its time, so that a range of ids is a range of time: partitions are dropped whole, and an id alone finds its row.
CREATE TABLE "delivery" (
    "id" TEXT COLLATE "C" NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "repo_id" TEXT NOT NULL,
    "repo_type" TEXT NOT NULL,
    "repo_name" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_outcome" TEXT,
    "last_status" INTEGER,
    "last_duration_ms" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "delivery_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");
CREATE INDEX "delivery_webhook_id_id_idx" ON "delivery"("webhook_id", "id");
CREATE INDEX "delivery_failed" ON "delivery"("webhook_id", "id") WHERE "state" = 'failed';

CREATE TABLE "attempt" (
    "id" TEXT COLLATE "C" NOT NULL,
    "delivery_id" TEXT COLLATE "C" NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "outcome" TEXT NOT NULL,
    "reason" TEXT,
    "url" TEXT,
    "signature" TEXT,
    "status" INTEGER,
    "response_headers" JSON,
    "response_body" BYTEA,
    "is_body_cut" BOOLEAN NOT NULL DEFAULT false,
    "is_reused" BOOLEAN NOT NULL DEFAULT false,
    "dns_ms" INTEGER,
    "connect_ms" INTEGER,
    "tls_ms" INTEGER,
    "first_byte_ms" INTEGER,
    "total_ms" INTEGER NOT NULL,
    "next_due_at" TIMESTAMPTZ(3),
    "job_run_id" TEXT,

    CONSTRAINT "attempt_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");
CREATE INDEX "attempt_delivery_id_id_idx" ON "attempt"("delivery_id", "id");

-- What is still to be sent, and nothing else: narrow rows that come and go, beside the history that stays.
CREATE TABLE "delivery_queue" (
    "id" TEXT COLLATE "C" NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "lane" INTEGER NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "replay_id" TEXT,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "delivery_queue_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX "delivery_queue_lane_due_at_idx" ON "delivery_queue"("lane", "due_at");
CREATE INDEX "delivery_queue_webhook_id_idx" ON "delivery_queue"("webhook_id");

-- Many replays at once, worked through in batches from where the last one left off.
CREATE TABLE "webhook_replay" (
    "id" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "created_by_id" TEXT,
    "delivery_ids" TEXT[],
    "since" TIMESTAMPTZ(3),
    "until" TIMESTAMPTZ(3),
    "cursor" TEXT,
    "total" INTEGER NOT NULL DEFAULT 0,
    "queued" INTEGER NOT NULL DEFAULT 0,
    "delivered" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "cancelled_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_replay_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhook_replay_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "webhook_replay_webhook_id_id_idx" ON "webhook_replay"("webhook_id", "id");
CREATE INDEX "webhook_replay_due" ON "webhook_replay"("due_at") WHERE "finished_at" IS NULL;

-- The partitions of a day: made some days ahead by whoever owns the tables. What fits none goes into the default one.
CREATE TABLE "delivery_default" PARTITION OF "delivery" DEFAULT;
CREATE TABLE "attempt_default" PARTITION OF "attempt" DEFAULT;

CREATE FUNCTION "make_delivery_partitions"("from_day" DATE, "to_day" DATE) RETURNS INTEGER LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    each_table TEXT;
    each_day DATE;
    made INTEGER := 0;
BEGIN
    IF to_day - from_day > 400 THEN RAISE EXCEPTION 'at most 400 days at once'; END IF;
    FOREACH each_table IN ARRAY ARRAY['delivery', 'attempt'] LOOP
        FOR each_day IN SELECT generate_series(from_day, to_day, interval '1 day')::DATE LOOP
            CONTINUE WHEN to_regclass(format('%I', each_table || to_char(each_day, '_YYYYMMDD'))) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                each_table || to_char(each_day, '_YYYYMMDD'), each_table,
                lpad(to_hex(extract(epoch FROM each_day AT TIME ZONE 'UTC')::BIGINT), 8, '0'),
                lpad(to_hex(extract(epoch FROM (each_day + 1) AT TIME ZONE 'UTC')::BIGINT), 8, '0'));
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;

-- Drops the days before one. A lock that is not to be had soon is for the next time: nobody waits behind this.
CREATE FUNCTION "drop_delivery_partitions"("before_day" DATE) RETURNS TEXT[] LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    each_name TEXT;
    dropped TEXT[] := ARRAY[]::TEXT[];
BEGIN
    IF before_day > current_date - 1 THEN RAISE EXCEPTION 'deliveries are kept for at least a day'; END IF;
    PERFORM set_config('lock_timeout', '2s', true);
    FOR each_name IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('delivery'::REGCLASS, 'attempt'::REGCLASS) AND c.relname ~ '_\d{8}$'
          AND to_date(right(c.relname, 8), 'YYYYMMDD') < before_day
        ORDER BY right(c.relname, 8), c.relname
    LOOP
        EXECUTE format('DROP TABLE %I', each_name);
        dropped := dropped || each_name;
    END LOOP;
    RETURN dropped;
END
$$;

-- They make and name tables in the schema in which they were made, in which nobody else may create anything.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION make_delivery_partitions(DATE, DATE) SET search_path = %I, pg_catalog, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION drop_delivery_partitions(DATE) SET search_path = %I, pg_catalog, pg_temp', current_schema());
END $$;
REVOKE ALL ON FUNCTION "make_delivery_partitions"(DATE, DATE), "drop_delivery_partitions"(DATE) FROM PUBLIC;
SELECT make_delivery_partitions((now() AT TIME ZONE 'UTC')::DATE - 1, (now() AT TIME ZONE 'UTC')::DATE + 7);

-- ---- jobs --------------------------------------------------------------------------------------------------------------

CREATE TABLE "job_run" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "owner_kind" TEXT NOT NULL,
    "created_by_id" TEXT,
    "initiator" JSONB NOT NULL,
    "spec" JSONB NOT NULL,
    "secrets" BYTEA,
    "runner" TEXT,
    "stage" TEXT NOT NULL,
    "message" TEXT,
    "exit_code" INTEGER,
    "webhook_id" TEXT,
    "delivery_id" TEXT,
    "delivery_try" INTEGER,
    "payload" TEXT,
    "log_bytes" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "job_run_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "job_run_owner_id_id_idx" ON "job_run"("owner_id", "id");
CREATE UNIQUE INDEX "job_run_delivery_id_delivery_try_key" ON "job_run"("delivery_id", "delivery_try");
CREATE INDEX "job_run_due" ON "job_run"("due_at") WHERE "finished_at" IS NULL;

CREATE TABLE "job_log" (
    "run_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "stream" TEXT NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "job_log_pkey" PRIMARY KEY ("run_id", "seq"),
    CONSTRAINT "job_log_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "job_run"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "scheduled_job" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "owner_kind" TEXT NOT NULL,
    "created_by_id" TEXT,
    "spec" JSONB NOT NULL,
    "secrets" BYTEA,
    "schedule" TEXT NOT NULL,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "may_overlap" BOOLEAN NOT NULL DEFAULT false,
    "is_suspended" BOOLEAN NOT NULL DEFAULT false,
    "last_run_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "scheduled_job_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "scheduled_job_owner_id_id_idx" ON "scheduled_job"("owner_id", "id");
CREATE INDEX "scheduled_job_due" ON "scheduled_job"("due_at") WHERE NOT "is_suspended";

-- ---- Spaces ------------------------------------------------------------------------------------------------------------

-- A Space that serves, one row while it runs, sleeps or failed to start. A worker holds the row's claim for as long as it runs it.
CREATE TABLE "space_runtime" (
    "repo_id" TEXT NOT NULL,
    "stage" TEXT NOT NULL,
    "is_wanted" BOOLEAN NOT NULL DEFAULT true,
    "message" TEXT,
    "commit" TEXT,
    "address" TEXT,
    "restarts" INTEGER NOT NULL DEFAULT 0,
    "last_request_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "space_runtime_pkey" PRIMARY KEY ("repo_id"),
    CONSTRAINT "space_runtime_repo_id_fkey" FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "space_runtime_due_at_idx" ON "space_runtime"("due_at");
