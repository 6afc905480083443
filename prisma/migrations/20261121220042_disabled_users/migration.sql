-- Whose repositories are not there: few, among however many. Lists leave them out without slowing down.
CREATE INDEX "user_disabled_idx" ON "user"("id") WHERE "disabled_at" IS NOT NULL;
