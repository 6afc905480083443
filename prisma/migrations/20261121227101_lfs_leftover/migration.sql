-- Where storage keeps an object, since not all repositories' copies need lie in one place.
ALTER TABLE "lfs_object" ADD COLUMN "location" TEXT NOT NULL;

CREATE INDEX "lfs_object_location_idx" ON "lfs_object"("location");

-- What storage may hold without a repository having it: uploads that have begun, and objects that a repository lost.
CREATE TABLE "lfs_leftover" (
    "location" TEXT NOT NULL,
    "upload_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "lfs_leftover_pkey" PRIMARY KEY ("location")
);

CREATE INDEX "lfs_leftover_created_at_idx" ON "lfs_leftover"("created_at");

-- Rows go with their repository, however that comes about; what they stood for in storage is not forgotten.
CREATE FUNCTION "note_lfs_leftover"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "lfs_leftover" ("location") VALUES (OLD."location")
    ON CONFLICT ("location") DO UPDATE SET "created_at" = CURRENT_TIMESTAMP;
  RETURN NULL;
END
$$;

CREATE TRIGGER "lfs_object_deleted" AFTER DELETE ON "lfs_object" FOR EACH ROW EXECUTE FUNCTION "note_lfs_leftover"();
