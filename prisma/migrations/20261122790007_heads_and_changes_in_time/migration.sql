-- What git says of a change of refs later must be about the pull requests as they were when it happened: somebody could push the base's own
-- commits to theirs meanwhile, and have it "merged" by whoever pushed the base (S137).
ALTER TABLE "discussion" ADD COLUMN "head_changed_at" TIMESTAMPTZ(3);
ALTER TABLE "late_ref_change" ADD COLUMN "happened_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
