-- The salt of recovery codes, encrypted, so that they outlive a SECRET_KEY; and which keys each running process has.
ALTER TABLE "recovery_code" ADD COLUMN "sealed_salt" BYTEA;
ALTER TABLE "process_heartbeat" ADD COLUMN "key_ids" TEXT[];
