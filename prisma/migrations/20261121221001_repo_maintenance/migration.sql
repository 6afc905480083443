-- Repositories whose git data is to be looked after: leased rows, one a repository.
CREATE TABLE "repo_maintenance" (
    "id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "repo_maintenance_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "repo_maintenance_due_at_idx" ON "repo_maintenance"("due_at");
