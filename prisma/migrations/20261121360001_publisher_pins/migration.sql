-- What only the issuer can give and never gives twice (a repository's number, not its name): recorded with the first use of a
-- publisher, and asked for from then on, so that whoever takes over a name does not take over the trust (S100).
ALTER TABLE "trusted_publisher" ADD COLUMN "pinned" JSONB NOT NULL DEFAULT '{}';

-- The latest token that was the issuer's own and was refused all the same: for whoever set the publisher up.
ALTER TABLE "trusted_publisher" ADD COLUMN "last_refusal" TEXT;
ALTER TABLE "trusted_publisher" ADD COLUMN "last_refused_at" TIMESTAMPTZ(3);

-- For the number of a publisher's live tokens and for ending a user's.
CREATE INDEX "ci_token_user_id_idx" ON "ci_token"("user_id");
