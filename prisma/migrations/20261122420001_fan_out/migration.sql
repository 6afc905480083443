-- Fanning out page by page, and days of deliveries that come and go without anybody waiting (docs/decisions/051).

-- How far an event with many watchers has come: the last webhook that was looked at. And why one was set aside.
ALTER TABLE "event" ADD COLUMN "fan_out_cursor" TEXT;
ALTER TABLE "event" ADD COLUMN "fan_out_error" TEXT;

-- A page of a target's watchers is read in the order of the index, from where the last one ended.
CREATE INDEX "webhook_watch_target_id_webhook_id_idx" ON "webhook_watch"("target_id", "webhook_id");
DROP INDEX "webhook_watch_target_id_idx";

-- The bounds of a day as ids.
CREATE FUNCTION "first_id_of_day"("day" DATE) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT lpad(to_hex(extract(epoch FROM day::TIMESTAMP AT TIME ZONE 'UTC')::BIGINT), 8, '0')
$$;

-- A day's table is made beside the others and then attached, since CREATE … PARTITION OF would lock the whole history. Rows of that day
-- that had to go into the default partition meanwhile are moved: Postgres attaches no partition whose rows are elsewhere, and they would
-- stay in its way for ever. Nobody waits long behind this: a lock that is not to be had soon is for the next time. It gives way before
-- a deadlock is looked for (after a second), so that it is never somebody else's transaction that is given up.
CREATE OR REPLACE FUNCTION "make_delivery_partitions"("from_day" DATE, "to_day" DATE) RETURNS INTEGER LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    each_table TEXT;
    each_day DATE;
    each_name TEXT;
    from_id TEXT;
    to_id TEXT;
    is_in_the_way BOOLEAN;
    made INTEGER := 0;
BEGIN
    IF to_day - from_day > 400 THEN RAISE EXCEPTION 'at most 400 days at once'; END IF;
    PERFORM set_config('lock_timeout', '800ms', true);
    -- Several workers start at once.
    PERFORM pg_advisory_xact_lock(5407233);
    FOREACH each_table IN ARRAY ARRAY['attempt', 'delivery'] LOOP
        FOR each_day IN SELECT generate_series(from_day, to_day, interval '1 day')::DATE LOOP
            each_name := each_table || to_char(each_day, '_YYYYMMDD');
            CONTINUE WHEN to_regclass(format('%I', each_name)) IS NOT NULL;
            from_id := first_id_of_day(each_day);
            to_id := first_id_of_day(each_day + 1);
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', each_name, each_table);
            EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE id >= %L AND id < %L)', each_table || '_default', from_id, to_id)
                INTO is_in_the_way;
            IF is_in_the_way THEN
                -- An update of a row that is being moved would be lost.
                EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', each_table || '_default');
                EXECUTE format('WITH moved AS (DELETE FROM %I WHERE id >= %L AND id < %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
                    each_table || '_default', from_id, to_id, each_name);
            END IF;
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', each_table, each_name, from_id, to_id);
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;

-- Drops the oldest table of those before a day; whoever calls it goes on until nothing is returned. One at a time, since dropping one
-- keeps everybody off the whole history until the transaction ends.
CREATE OR REPLACE FUNCTION "drop_delivery_partitions"("before_day" DATE) RETURNS TEXT[] LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    oldest TEXT;
BEGIN
    IF before_day > current_date - 1 THEN RAISE EXCEPTION 'deliveries are kept for at least a day'; END IF;
    PERFORM set_config('lock_timeout', '800ms', true);
    SELECT c.relname INTO oldest FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('delivery'::REGCLASS, 'attempt'::REGCLASS) AND c.relname ~ '_\d{8}$'
        AND to_date(right(c.relname, 8), 'YYYYMMDD') < before_day
    ORDER BY right(c.relname, 8), c.relname LIMIT 1;
    IF oldest IS NULL THEN RETURN ARRAY[]::TEXT[]; END IF;
    EXECUTE format('DROP TABLE IF EXISTS %I', oldest);
    RETURN ARRAY[oldest];
END
$$;

DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION make_delivery_partitions(DATE, DATE) SET search_path = %I, pg_catalog, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION drop_delivery_partitions(DATE) SET search_path = %I, pg_catalog, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION first_id_of_day(DATE) SET search_path = %I, pg_catalog, pg_temp', current_schema());
END $$;
