-- Where a collection stands among those of its owner.
ALTER TABLE "collection" ADD COLUMN "position" INTEGER NOT NULL DEFAULT 0;
DROP INDEX "collection_owner_id_updated_at_idx";
CREATE INDEX "collection_owner_id_position_updated_at_idx" ON "collection"("owner_id", "position", "updated_at" DESC);

-- A platform's token that was replaced works for a while beside the new one.
ALTER TABLE "platform" ADD COLUMN "previous_token_hash" TEXT;
ALTER TABLE "platform" ADD COLUMN "previous_expires_at" TIMESTAMPTZ(3);
CREATE UNIQUE INDEX "platform_previous_token_hash_key" ON "platform"("previous_token_hash");
