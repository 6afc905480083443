-- ---- ways to prove who one is ---------------------------------------------------------------------------------------

CREATE TABLE "passkey" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL DEFAULT 0,
    "transports" TEXT[],
    "name" TEXT NOT NULL,
    "is_backed_up" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkey_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "passkey_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id");
CREATE INDEX "passkey_user_id_idx" ON "passkey"("user_id");

CREATE TABLE "totp" (
    "user_id" TEXT NOT NULL,
    "sealed_secret" BYTEA NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "last_step" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "totp_pkey" PRIMARY KEY ("user_id"),
    CONSTRAINT "totp_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "recovery_code" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "recovery_code_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "recovery_code_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "recovery_code_user_id_code_hash_key" ON "recovery_code"("user_id", "code_hash");

CREATE TABLE "identity_provider" (
    "id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "org_id" TEXT,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "sealed_client_secret" BYTEA,
    "scopes" TEXT[],
    "is_sign_up_allowed" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ(3),

    CONSTRAINT "identity_provider_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "identity_provider_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "identity_provider_slug_key" ON "identity_provider"("slug");
CREATE INDEX "identity_provider_org_id_idx" ON "identity_provider"("org_id");

CREATE TABLE "linked_identity" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "display_name" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "linked_identity_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "linked_identity_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "linked_identity_provider_id_fkey" FOREIGN KEY ("provider_id") REFERENCES "identity_provider"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "linked_identity_provider_id_subject_key" ON "linked_identity"("provider_id", "subject");
CREATE INDEX "linked_identity_user_id_provider_id_idx" ON "linked_identity"("user_id", "provider_id");

-- ---- what an organization asks of its members and of apps -----------------------------------------------------------

ALTER TABLE "organization" ADD COLUMN "requires_second_step" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "organization" ADD COLUMN "required_provider_id" TEXT;
ALTER TABLE "organization" ADD COLUMN "app_policy" TEXT NOT NULL DEFAULT 'all';

CREATE TABLE "organization_app" (
    "org_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "decision" TEXT NOT NULL,
    "decided_by_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organization_app_pkey" PRIMARY KEY ("org_id", "client_id"),
    CONSTRAINT "organization_app_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "organization_app_client_id_idx" ON "organization_app"("client_id");

-- ---- organization-bound apps and token exchange ---------------------------------------------------------------------

ALTER TABLE "oauth_app" ADD COLUMN "bound_org_id" TEXT;
ALTER TABLE "oauth_app" ADD COLUMN "privileges" TEXT[] DEFAULT ARRAY[]::TEXT[];
CREATE INDEX "oauth_app_bound_org_id_idx" ON "oauth_app"("bound_org_id");

-- An exchanged token has a Grant without a consent: nobody was asked. It holds for as long as the app may exchange.
ALTER TABLE "oauth_grant" ALTER COLUMN "consent_id" DROP NOT NULL;
ALTER TABLE "oauth_grant" ADD COLUMN "bound_org_id" TEXT;
ALTER TABLE "oauth_grant" ADD CONSTRAINT "oauth_grant_basis" CHECK ("consent_id" IS NOT NULL OR "bound_org_id" IS NOT NULL);

-- ---- keyless continuous integration ---------------------------------------------------------------------------------

CREATE TABLE "trusted_publisher" (
    "id" TEXT NOT NULL,
    "repo_id" TEXT,
    "user_id" TEXT,
    "preset" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "claims" JSONB NOT NULL,
    "created_by_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "trusted_publisher_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "trusted_publisher_repo_id_fkey" FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "trusted_publisher_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "trusted_publisher_subject" CHECK (("repo_id" IS NULL) <> ("user_id" IS NULL))
);
CREATE INDEX "trusted_publisher_repo_id_idx" ON "trusted_publisher"("repo_id");
CREATE INDEX "trusted_publisher_user_id_idx" ON "trusted_publisher"("user_id");

CREATE TABLE "ci_token" (
    "id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "publisher_id" TEXT NOT NULL,
    "repo_id" TEXT,
    "user_id" TEXT,
    "description" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "ci_token_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ci_token_publisher_id_fkey" FOREIGN KEY ("publisher_id") REFERENCES "trusted_publisher"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "ci_token_token_hash_key" ON "ci_token"("token_hash");
CREATE INDEX "ci_token_publisher_id_idx" ON "ci_token"("publisher_id");
CREATE INDEX "ci_token_expires_at_idx" ON "ci_token"("expires_at");

-- ---- standing -------------------------------------------------------------------------------------------------------

-- Where each member stands: the role, and what the organization asks of them that they have not met. Every decision about
-- access reads memberships through this view (core/access), so that a rule of the organization holds at every door.
CREATE VIEW "member_standing" AS
SELECT m.org_id, m.user_id, m.role,
  array_remove(ARRAY[
    CASE WHEN o.requires_second_step
      AND NOT EXISTS (SELECT 1 FROM passkey p WHERE p.user_id = m.user_id)
      AND NOT EXISTS (SELECT 1 FROM totp t WHERE t.user_id = m.user_id AND t.confirmed_at IS NOT NULL)
    THEN 'mfa' END,
    CASE WHEN o.required_provider_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM linked_identity i WHERE i.user_id = m.user_id AND i.provider_id = o.required_provider_id
        AND i.last_used_at > now() - interval '7 days')
    THEN 'sso' END
  ]::TEXT[], NULL) AS restrictions
FROM membership m JOIN organization o ON o.id = m.org_id;

-- Whether an organization lets an app at what is its own: its policy, and what its administrators said of this one.
CREATE FUNCTION is_app_admitted(org TEXT, client TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN d.decision = 'blocked' THEN false
    WHEN o.app_policy = 'all' OR a.is_first_party OR a.bound_org_id = o.id THEN true
    ELSE o.app_policy = 'approved' AND coalesce(d.decision = 'approved', false)
  END
  FROM organization o
  LEFT JOIN organization_app d ON d.org_id = o.id AND d.client_id = client
  LEFT JOIN oauth_app a ON a.client_id = client
  WHERE o.id = org
$$;
