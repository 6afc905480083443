-- Owners take turns when events are leased (decision 051): the next owner with due events, and the oldest of these.
CREATE INDEX CONCURRENTLY "event_fresh_of_owner" ON "event"("owner_id", "created_at", "id") WHERE "fanned_out_at" IS NULL AND "fan_out_cursor" IS NULL;
