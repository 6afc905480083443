-- Of a webhook's triggers, those by people who may not write to the repository. They get a part of its daily limit, so that strangers
-- cannot use all of it up (core/webhooks/fan-out/admit-triggers.ts).
ALTER TABLE "webhook_hour" ADD COLUMN "by_outsiders" INTEGER NOT NULL DEFAULT 0;
