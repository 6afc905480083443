-- The emails that a worker has claimed.
CREATE INDEX CONCURRENTLY "mail_claimed" ON "mail"("claimed_until") WHERE "sent_at" IS NULL AND "failed_at" IS NULL AND "claimed_until" IS NOT NULL;
