-- What is due and cannot be sent yet, since its target is busy, lies by target (docs/decisions/052): claims step from target to target
-- and never over the rows of one.
CREATE INDEX "delivery_queue_backlog" ON "delivery_queue"("host", "webhook_id", "due_at") WHERE "lane" = 3;
