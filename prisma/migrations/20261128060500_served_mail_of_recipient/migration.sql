-- When an email to each recipient was claimed last.
CREATE INDEX CONCURRENTLY "mail_party_served" ON "mail"("recipient", "served_at");
