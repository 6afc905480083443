-- The due emails to each recipient.
CREATE INDEX CONCURRENTLY "mail_party_due" ON "mail"("recipient", "due_at") WHERE "sent_at" IS NULL AND "failed_at" IS NULL;
