-- Workers lease events and make first attempts under the lease (decision 092).
ALTER TABLE "event" ADD COLUMN "claim_id" TEXT;
ALTER TABLE "event" ADD COLUMN "claimed_until" TIMESTAMPTZ(3);
