-- Holds are stored without a quota too, because announced uploads are counted by them (S137).
CREATE OR REPLACE FUNCTION "hold_storage"(
    "of_owner" TEXT, "hold_ids" TEXT[], "hold_bytes" BIGINT[], "wanted" BIGINT, "default_quota" BIGINT, "hold_seconds" FLOAT8,
    OUT "is_held" BOOLEAN, OUT "used" BIGINT, OUT "held" BIGINT, OUT "removed" BIGINT, OUT "quota" BIGINT
) LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
DECLARE
    needed BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('storage ' || of_owner, 0));
    SELECT q.bytes INTO quota FROM storage_quota q WHERE q.owner_id = of_owner;
    IF NOT FOUND THEN quota := default_quota; END IF;
    SELECT coalesce(sum(s.bytes), 0) INTO used FROM storage_use s WHERE s.owner_id = of_owner AND s.kind IN ('git', 'lfs');
    -- An upload that is begun again takes the place of its first try. It never makes the hold smaller or shorter: the address that was
    -- given out for more bytes is still good.
    SELECT wanted + coalesce(sum(greatest(h.bytes - n.bytes, 0)), 0) INTO needed FROM unnest(hold_ids, hold_bytes) AS n(id, bytes)
        JOIN storage_hold h ON h.id = n.id AND h.expires_at > clock_timestamp();
    SELECT coalesce(sum(h.bytes) FILTER (WHERE NOT h.is_removed), 0), coalesce(sum(h.bytes) FILTER (WHERE h.is_removed), 0)
        INTO held, removed FROM storage_hold h
        WHERE h.owner_id = of_owner AND h.expires_at > clock_timestamp() AND h.id <> ALL (hold_ids);
    is_held := quota IS NULL OR (used + held + needed <= quota AND used + held + removed + needed <= 2 * quota);
    IF is_held THEN
        INSERT INTO storage_hold (id, owner_id, bytes, expires_at)
            SELECT h.id, of_owner, h.bytes, clock_timestamp() + make_interval(secs => hold_seconds)
            FROM unnest(hold_ids, hold_bytes) AS h(id, bytes)
            ON CONFLICT (id) DO UPDATE SET owner_id = excluded.owner_id,
                bytes = CASE WHEN storage_hold.expires_at > clock_timestamp() THEN greatest(storage_hold.bytes, excluded.bytes)
                    ELSE excluded.bytes END,
                expires_at = greatest(storage_hold.expires_at, excluded.expires_at);
    END IF;
END $$;
