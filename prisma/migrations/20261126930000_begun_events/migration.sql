-- Few events have more watchers than one page: the next of them is found without walking over all that wait.
CREATE INDEX "event_begun" ON "event"("created_at", "id") WHERE "fanned_out_at" IS NULL AND "fan_out_cursor" IS NOT NULL;
