ALTER TABLE "access_request" ADD COLUMN "rejection_reason" TEXT;
-- Whoever was let in without having asked has shared nothing with those who let them in.
ALTER TABLE "access_request" ADD COLUMN "has_asked" BOOLEAN NOT NULL DEFAULT true;
