-- Changes of refs of which git did not say in time what they mean for pull requests: the worker asks again (S137).
CREATE TABLE "late_ref_change" (
    "id" TEXT NOT NULL,
    "repo_id" TEXT NOT NULL,
    "actor_id" TEXT,
    "changes" JSONB NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "late_ref_change_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "late_ref_change_repo_id_idx" ON "late_ref_change"("repo_id");
CREATE INDEX "late_ref_change_actor_id_idx" ON "late_ref_change"("actor_id");
CREATE INDEX "late_ref_change_due_at_idx" ON "late_ref_change"("due_at");

ALTER TABLE "late_ref_change" ADD CONSTRAINT "late_ref_change_repo_id_fkey"
  FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
