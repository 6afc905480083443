-- A client that asks for an upload again is sent to the same place: room is held for one, however many addresses there are.
ALTER TABLE "lfs_leftover" ADD COLUMN "hold_id" TEXT;
CREATE UNIQUE INDEX "lfs_leftover_hold_id_key" ON "lfs_leftover"("hold_id");
