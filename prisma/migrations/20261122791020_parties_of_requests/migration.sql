-- Whom an open request or an engine session counts against, hashed: a party keeps so many, and its oldest give way (core/oauth/store-of-party.ts, S143).
ALTER TABLE "oauth_artifact" ADD COLUMN "party" TEXT;
CREATE INDEX "oauth_artifact_party" ON "oauth_artifact"("model", "party", "created_at" DESC) WHERE "party" IS NOT NULL;
