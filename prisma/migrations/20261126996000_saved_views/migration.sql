-- A person's named filters of a webhook's Activity page.
CREATE TABLE "saved_view" (
    "webhook_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "saved_view_pkey" PRIMARY KEY ("webhook_id", "user_id", "name")
);
CREATE INDEX "saved_view_user_id_idx" ON "saved_view"("user_id");
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_webhook_id_fkey"
    FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_user_id_fkey"
    FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
