-- The first shape of the database. Written from prisma/schema.prisma, with the partial indexes that Prisma cannot express.

CREATE TABLE "handle" (
    "handle" TEXT NOT NULL,
    "user_id" TEXT,
    "org_id" TEXT,

    CONSTRAINT "handle_pkey" PRIMARY KEY ("handle")
);

CREATE TABLE "user" (
    "id" TEXT NOT NULL,
    "username" TEXT NOT NULL,
    "full_name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_canonical" TEXT NOT NULL,
    "email_verified_at" TIMESTAMPTZ(3),
    "password_hash" TEXT,
    "website" TEXT,
    "avatar_id" TEXT,
    "is_operator" BOOLEAN NOT NULL DEFAULT false,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "site_session" (
    "id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "ip" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "authenticated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "site_session_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "one_time_token" (
    "token_hash" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "user_id" TEXT,
    "subject" TEXT,
    "data" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "one_time_token_pkey" PRIMARY KEY ("token_hash")
);

CREATE TABLE "throttle" (
    "key" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "reset_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "throttle_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "personal_access_token" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "personal_access_token_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "image" (
    "id" TEXT NOT NULL,
    "content_type" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "image_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "organization" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "full_name" TEXT NOT NULL,
    "email" TEXT,
    "website" TEXT,
    "plan" TEXT,
    "avatar_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organization_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "membership" (
    "org_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("org_id","user_id")
);

CREATE TABLE "invitation" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_canonical" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "invited_by_id" TEXT,
    "token_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "audit_event" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "actor_id" TEXT,
    "org_id" TEXT,
    "client_id" TEXT,
    "subject_id" TEXT,
    "data" JSONB NOT NULL DEFAULT '{}',
    "ip" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_event_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_app" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "homepage_url" TEXT,
    "logo_id" TEXT,
    "owner_user_id" TEXT,
    "owner_org_id" TEXT,
    "redirect_uris" TEXT[],
    "post_logout_redirect_uris" TEXT[],
    "scopes" TEXT[],
    "is_confidential" BOOLEAN NOT NULL DEFAULT false,
    "is_pkce_required" BOOLEAN NOT NULL DEFAULT true,
    "is_refresh_allowed" BOOLEAN NOT NULL DEFAULT false,
    "is_device_flow_allowed" BOOLEAN NOT NULL DEFAULT false,
    "access_token_seconds" INTEGER,
    "id_token_alg" TEXT NOT NULL DEFAULT 'RS256',
    "verified_at" TIMESTAMPTZ(3),
    "blocked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_app_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_app_secret" (
    "id" TEXT NOT NULL,
    "app_id" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_app_secret_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_consent" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "declined_scopes" TEXT[],
    "org_ids" TEXT[],
    "declined_org_ids" TEXT[],
    "is_all_orgs" BOOLEAN NOT NULL DEFAULT false,
    "client_fingerprint" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_consent_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_grant" (
    "id" TEXT NOT NULL,
    "consent_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "org_ids" TEXT[],
    "is_all_orgs" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_grant_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_artifact" (
    "model" TEXT NOT NULL,
    "id_hash" TEXT NOT NULL,
    "grant_id" TEXT,
    "payload" JSONB NOT NULL,
    "uid" TEXT,
    "user_code" TEXT,
    "account_id" TEXT,
    "client_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "consumed_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_artifact_pkey" PRIMARY KEY ("model","id_hash")
);

CREATE TABLE "signing_key" (
    "kid" TEXT NOT NULL,
    "alg" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "private_jwk" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "active_at" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_key_pkey" PRIMARY KEY ("kid")
);

CREATE TABLE "oauth_app_usage" (
    "client_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "authorizations" INTEGER NOT NULL DEFAULT 0,
    "tokens" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "oauth_app_usage_pkey" PRIMARY KEY ("client_id","day")
);

CREATE TABLE "oauth_app_active_user" (
    "client_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "user_id" TEXT NOT NULL,

    CONSTRAINT "oauth_app_active_user_pkey" PRIMARY KEY ("client_id","day","user_id")
);

CREATE TABLE "mail" (
    "id" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claim_id" TEXT,
    "claimed_until" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "failed_at" TIMESTAMPTZ(3),
    "last_error" TEXT,

    CONSTRAINT "mail_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "setting" (
    "key" TEXT NOT NULL,
    "value" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "setting_pkey" PRIMARY KEY ("key")
);

CREATE UNIQUE INDEX "handle_user_id_key" ON "handle"("user_id");

CREATE UNIQUE INDEX "handle_org_id_key" ON "handle"("org_id");

CREATE UNIQUE INDEX "user_email_canonical_key" ON "user"("email_canonical");

CREATE UNIQUE INDEX "site_session_token_hash_key" ON "site_session"("token_hash");

CREATE INDEX "site_session_user_id_idx" ON "site_session"("user_id");

CREATE INDEX "site_session_expires_at_idx" ON "site_session"("expires_at");

CREATE INDEX "one_time_token_user_id_purpose_idx" ON "one_time_token"("user_id", "purpose");

CREATE INDEX "one_time_token_subject_purpose_idx" ON "one_time_token"("subject", "purpose");

CREATE INDEX "one_time_token_expires_at_idx" ON "one_time_token"("expires_at");

CREATE INDEX "throttle_reset_at_idx" ON "throttle"("reset_at");

CREATE UNIQUE INDEX "personal_access_token_token_hash_key" ON "personal_access_token"("token_hash");

CREATE INDEX "personal_access_token_user_id_idx" ON "personal_access_token"("user_id");

CREATE INDEX "membership_user_id_idx" ON "membership"("user_id");

CREATE UNIQUE INDEX "invitation_token_hash_key" ON "invitation"("token_hash");

CREATE INDEX "invitation_org_id_idx" ON "invitation"("org_id");

CREATE INDEX "invitation_email_canonical_idx" ON "invitation"("email_canonical");

CREATE INDEX "audit_event_org_id_created_at_idx" ON "audit_event"("org_id", "created_at" DESC);

CREATE INDEX "audit_event_actor_id_created_at_idx" ON "audit_event"("actor_id", "created_at" DESC);

CREATE INDEX "audit_event_created_at_idx" ON "audit_event"("created_at");

CREATE UNIQUE INDEX "oauth_app_client_id_key" ON "oauth_app"("client_id");

CREATE INDEX "oauth_app_owner_user_id_idx" ON "oauth_app"("owner_user_id");

CREATE INDEX "oauth_app_owner_org_id_idx" ON "oauth_app"("owner_org_id");

CREATE INDEX "oauth_app_secret_app_id_idx" ON "oauth_app_secret"("app_id");

CREATE INDEX "oauth_consent_user_id_client_id_idx" ON "oauth_consent"("user_id", "client_id");

CREATE INDEX "oauth_consent_client_id_idx" ON "oauth_consent"("client_id");

CREATE INDEX "oauth_grant_consent_id_idx" ON "oauth_grant"("consent_id");

CREATE INDEX "oauth_grant_expires_at_idx" ON "oauth_grant"("expires_at");

CREATE INDEX "oauth_artifact_grant_id_idx" ON "oauth_artifact"("grant_id");

CREATE INDEX "oauth_artifact_uid_idx" ON "oauth_artifact"("uid");

CREATE INDEX "oauth_artifact_user_code_idx" ON "oauth_artifact"("user_code");

CREATE INDEX "oauth_artifact_account_id_idx" ON "oauth_artifact"("account_id");

CREATE INDEX "oauth_artifact_expires_at_idx" ON "oauth_artifact"("expires_at");

CREATE INDEX "mail_due_at_idx" ON "mail"("due_at");

ALTER TABLE "site_session" ADD CONSTRAINT "site_session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "membership" ADD CONSTRAINT "membership_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "invitation" ADD CONSTRAINT "invitation_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_app_secret" ADD CONSTRAINT "oauth_app_secret_app_id_fkey" FOREIGN KEY ("app_id") REFERENCES "oauth_app"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_grant" ADD CONSTRAINT "oauth_grant_consent_id_fkey" FOREIGN KEY ("consent_id") REFERENCES "oauth_consent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_artifact" ADD CONSTRAINT "oauth_artifact_grant_id_fkey" FOREIGN KEY ("grant_id") REFERENCES "oauth_grant"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- One live consent for each person and client, also when two browsers agree at the same moment.
CREATE UNIQUE INDEX "oauth_consent_one_live" ON "oauth_consent"("user_id", "client_id") WHERE "revoked_at" IS NULL;

-- S67: a user code is unique among the codes that are alive.
CREATE UNIQUE INDEX "oauth_artifact_user_code_unique" ON "oauth_artifact"("user_code") WHERE "user_code" IS NOT NULL;

-- Unsent mail only, so that the worker's claim never reads what was sent.
CREATE INDEX "mail_unsent" ON "mail"("due_at") WHERE "sent_at" IS NULL AND "failed_at" IS NULL;

-- Counters that may be lost with a crash of the database; they are only brakes.
ALTER TABLE "throttle" SET UNLOGGED;

-- S116: the audit log is append-only for every program, ours included. Retention drops whole tables or partitions.
CREATE FUNCTION "refuse_audit_event_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit_event is append-only';
END
$$;

CREATE TRIGGER "audit_event_append_only" BEFORE UPDATE OR DELETE ON "audit_event" FOR EACH ROW EXECUTE FUNCTION "refuse_audit_event_change"();
