-- Logout notices are sent in turn by user (decision 030): claims ask who holds how many, who was served when, and for the longest due of one
-- user.
ALTER TABLE "oauth_logout_notice" ADD COLUMN "served_at" TIMESTAMPTZ(3);
CREATE INDEX "oauth_logout_notice_party_served" ON "oauth_logout_notice"("user_id", "served_at");
CREATE INDEX "oauth_logout_notice_party_due" ON "oauth_logout_notice"("user_id", "due_at") WHERE "sent_at" IS NULL AND "failed_at" IS NULL;
CREATE INDEX "oauth_logout_notice_claimed" ON "oauth_logout_notice"("claimed_until")
  WHERE "sent_at" IS NULL AND "failed_at" IS NULL AND "claimed_until" IS NOT NULL;
