-- Against whom the commits count that a change of refs shows in pull requests (core/access/may.ts, `partyOf`).
ALTER TABLE "ref_update" ADD COLUMN "party" TEXT;
ALTER TABLE "late_ref_change" ADD COLUMN "party" TEXT;
