-- A key that was withdrawn at once, because it may have leaked, verifies nothing anymore (S108).
ALTER TABLE "signing_key" ADD COLUMN "is_withdrawn" BOOLEAN NOT NULL DEFAULT false;
