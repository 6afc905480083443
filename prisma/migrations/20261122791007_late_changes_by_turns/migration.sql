-- What git did not say in time is asked again by turns, so that one person's many changes hold up nobody else's (decision 072).
ALTER TABLE "late_ref_change" ADD COLUMN "served_at" TIMESTAMPTZ(3);
CREATE INDEX "late_ref_change_party_served" ON "late_ref_change"((COALESCE("actor_id", "repo_id")), "served_at");
CREATE INDEX "late_ref_change_party_due" ON "late_ref_change"((COALESCE("actor_id", "repo_id")), "due_at");
CREATE INDEX "late_ref_change_claimed" ON "late_ref_change"("claimed_until") WHERE "claimed_until" IS NOT NULL;
