-- What an app that registered itself has said beyond the columns there are, so that it can be told what it is registered with.

ALTER TABLE "oauth_app" ADD COLUMN "registered_metadata" JSONB;
