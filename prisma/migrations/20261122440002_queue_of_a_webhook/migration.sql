-- What waits of a webhook is listed in the order of its deliveries.
CREATE INDEX "delivery_queue_webhook_id_id_idx" ON "delivery_queue"("webhook_id", "id");
DROP INDEX "delivery_queue_webhook_id_idx";
