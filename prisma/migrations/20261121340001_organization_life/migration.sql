-- Members who ask that an app be let in (core/oauth/app-policy/ask-for-app.ts).
CREATE TABLE "organization_app_request" (
    "org_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organization_app_request_pkey" PRIMARY KEY ("org_id", "client_id", "user_id"),
    CONSTRAINT "organization_app_request_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "organization_app_request_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "organization_app_request_user_id_idx" ON "organization_app_request"("user_id");

-- Members in the order in which they joined, all or those of a role: a page costs a page, and asking for another administrator
-- costs one row, however many members there are (core/accounts/organizations/members/list-members.ts, require-other-admin.ts).
CREATE INDEX "membership_org_id_created_at_user_id_idx" ON "membership"("org_id", "created_at", "user_id");
CREATE INDEX "membership_org_id_role_created_at_user_id_idx" ON "membership"("org_id", "role", "created_at", "user_id");

-- Any part of a person's names, where the extension is there; without it searching is slower and otherwise the same.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX "user_names_trigrams_idx" ON "user" USING gin (lower("username" || ' ' || "full_name") gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'pg_trgm is not available: %', SQLERRM;
END $$;
