-- What was not sent is looked for by itself, and is rare: its index costs nothing of what is sent (docs/decisions/053).
CREATE INDEX "delivery_not_sent" ON "delivery"("webhook_id", "id") WHERE "state" IN ('rate_limited', 'withheld');

-- What a replay put into the queue: how far it is, and what to take out when it is cancelled.
CREATE INDEX "delivery_queue_replay" ON "delivery_queue"("replay_id") WHERE "replay_id" IS NOT NULL;
