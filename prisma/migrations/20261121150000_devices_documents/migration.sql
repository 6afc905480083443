-- Devices, client ID metadata documents, and what an app can ask of its own security.

ALTER TABLE "oauth_app" ADD COLUMN "is_par_required" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "oauth_app" ADD COLUMN "is_dpop_required" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "oauth_app" ADD COLUMN "jwks" JSONB;
ALTER TABLE "oauth_app" ADD COLUMN "jwks_uri" TEXT;
ALTER TABLE "oauth_app" ADD COLUMN "backchannel_logout_uri" TEXT;
ALTER TABLE "oauth_app" ADD COLUMN "is_first_party" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "oauth_app" ADD COLUMN "registration_token_hash" TEXT;

CREATE UNIQUE INDEX "oauth_app_registration_token_hash_key" ON "oauth_app"("registration_token_hash");

ALTER TABLE "oauth_artifact" ADD COLUMN "claimed_by_id" TEXT;

-- Written once for each poll, so without a log: what a crash of the database forgets is only an interval. Rows are updated in
-- place within their page.
CREATE UNLOGGED TABLE "oauth_device_poll" (
    "id_hash" TEXT NOT NULL,
    "polled_at" TIMESTAMPTZ(3) NOT NULL,
    "interval_seconds" INTEGER NOT NULL,

    CONSTRAINT "oauth_device_poll_pkey" PRIMARY KEY ("id_hash")
) WITH (fillfactor = 50);

CREATE TABLE "oauth_client_document" (
    "client_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "metadata" JSONB NOT NULL,
    "logo_id" TEXT,
    "etag" TEXT,
    "fetched_at" TIMESTAMPTZ(3) NOT NULL,
    "fresh_until" TIMESTAMPTZ(3) NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "changed_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_client_document_pkey" PRIMARY KEY ("client_id")
);

CREATE TABLE "oauth_client_host" (
    "host" TEXT NOT NULL,
    "rule" TEXT NOT NULL,
    "note" TEXT,
    "created_by_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_client_host_pkey" PRIMARY KEY ("host")
);

CREATE TABLE "oauth_logout_notice" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "sid" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "failed_at" TIMESTAMPTZ(3),
    "last_error" TEXT,

    CONSTRAINT "oauth_logout_notice_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "oauth_client_document_host_idx" ON "oauth_client_document"("host");
CREATE INDEX "oauth_client_document_last_seen_at_idx" ON "oauth_client_document"("last_seen_at" DESC);
CREATE INDEX "oauth_logout_notice_due_at_idx" ON "oauth_logout_notice"("due_at");

-- Open notices only, so that the worker's claim never reads what was told.
CREATE INDEX "oauth_logout_notice_open" ON "oauth_logout_notice"("due_at") WHERE "sent_at" IS NULL AND "failed_at" IS NULL;
