-- ---- inference ------------------------------------------------------------------------------------------------------

CREATE TABLE "inference_provider" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "base_url" TEXT NOT NULL,
    "sealed_api_key" BYTEA,
    "last4" TEXT,
    "is_own_network_allowed" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ(3),

    CONSTRAINT "inference_provider_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "inference_provider_name_key" ON "inference_provider"("name");

CREATE TABLE "inference_model" (
    "id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "upstream_name" TEXT NOT NULL,
    "plans" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inference_model_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "inference_model_provider_id_fkey" FOREIGN KEY ("provider_id") REFERENCES "inference_provider"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "inference_model_name_key" ON "inference_model"("name");
CREATE INDEX "inference_model_provider_id_idx" ON "inference_model"("provider_id");

CREATE TABLE "inference_allowance" (
    "subject" TEXT NOT NULL,
    "monthly_tokens" BIGINT,
    "monthly_requests" INTEGER,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inference_allowance_pkey" PRIMARY KEY ("subject")
);
-- Whoever can sign up could otherwise spend the operator's money without end (docs/decisions/047).
INSERT INTO "inference_allowance" ("subject", "monthly_tokens") VALUES ('user', 1000000), ('organization', 10000000);

CREATE TABLE "inference_meter" (
    "owner_id" TEXT NOT NULL,
    "month" DATE NOT NULL,
    "tokens" BIGINT NOT NULL DEFAULT 0,
    "requests" INTEGER NOT NULL DEFAULT 0,
    "reserved_tokens" BIGINT NOT NULL DEFAULT 0,
    "reserved_requests" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "inference_meter_pkey" PRIMARY KEY ("owner_id", "month")
);
CREATE INDEX "inference_meter_month_tokens_idx" ON "inference_meter"("month", "tokens" DESC);

CREATE TABLE "inference_reservation" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "month" DATE NOT NULL,
    "tokens" BIGINT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "inference_reservation_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "inference_reservation_owner_id_idx" ON "inference_reservation"("owner_id");
CREATE INDEX "inference_reservation_expires_at_idx" ON "inference_reservation"("expires_at");

-- However a reservation goes, settled, given up or swept up after a crash, its meter has it back in the same transaction.
CREATE FUNCTION "release_inference_reservation"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "inference_meter" SET "reserved_tokens" = "reserved_tokens" - OLD."tokens", "reserved_requests" = "reserved_requests" - 1
   WHERE "owner_id" = OLD."owner_id" AND "month" = OLD."month";
  RETURN NULL;
END
$$;
CREATE TRIGGER "inference_reservation_released" AFTER DELETE ON "inference_reservation"
  FOR EACH ROW EXECUTE FUNCTION "release_inference_reservation"();

CREATE TABLE "inference_usage" (
    "user_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "client_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "requests" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "prompt_tokens" BIGINT NOT NULL DEFAULT 0,
    "completion_tokens" BIGINT NOT NULL DEFAULT 0,
    "estimated_tokens" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "inference_usage_pkey" PRIMARY KEY ("user_id", "day", "client_id", "org_id", "model")
);
CREATE INDEX "inference_usage_org_id_day_idx" ON "inference_usage"("org_id", "day");
CREATE INDEX "inference_usage_day_idx" ON "inference_usage"("day");

-- ---- the service itself ---------------------------------------------------------------------------------------------

CREATE TABLE "process_heartbeat" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "pid" INTEGER NOT NULL,
    "version" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "process_heartbeat_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "process_heartbeat_seen_at_idx" ON "process_heartbeat"("seen_at");

-- What operators look for among however many users: the beginning of a name or an address.
CREATE INDEX "user_username_prefix" ON "user"(lower("username") text_pattern_ops);
CREATE INDEX "user_full_name_prefix" ON "user"(lower("full_name") text_pattern_ops);
CREATE INDEX "user_email_prefix" ON "user"(lower("email_canonical") text_pattern_ops);
CREATE INDEX "user_operator_idx" ON "user"("id") WHERE "is_operator";
-- What waits or was given up, in tables that are mostly what is done.
CREATE INDEX "mail_waiting_idx" ON "mail"("created_at") WHERE "sent_at" IS NULL AND "failed_at" IS NULL;
CREATE INDEX "mail_failed_idx" ON "mail"("failed_at") WHERE "failed_at" IS NOT NULL;
CREATE INDEX "oauth_logout_notice_waiting_idx" ON "oauth_logout_notice"("created_at") WHERE "sent_at" IS NULL AND "failed_at" IS NULL;
CREATE INDEX "oauth_logout_notice_failed_idx" ON "oauth_logout_notice"("failed_at") WHERE "failed_at" IS NOT NULL;
