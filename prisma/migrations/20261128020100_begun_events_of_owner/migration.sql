-- The same for events with more watchers than one page.
CREATE INDEX CONCURRENTLY "event_begun_of_owner" ON "event"("owner_id", "created_at", "id") WHERE "fanned_out_at" IS NULL AND "fan_out_cursor" IS NOT NULL;
