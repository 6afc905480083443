-- The hour in which the first lease of an event, or of its next watchers, counted their triggers (decision 092).
ALTER TABLE "event" ADD COLUMN "counted_in" TIMESTAMPTZ(3);
