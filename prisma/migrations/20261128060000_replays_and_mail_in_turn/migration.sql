-- Replays of one user, also those of the user's organizations, take turns with those of others (S128). So do emails to one recipient.
ALTER TABLE "webhook_replay" ADD COLUMN "served_at" TIMESTAMPTZ(3);
ALTER TABLE "mail" ADD COLUMN "served_at" TIMESTAMPTZ(3);
