-- Services beside this one that take our tokens (RFC 8707), and which of them a person has let an app into.

CREATE TABLE "oauth_resource_server" (
    "id" TEXT NOT NULL,
    "identifier" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "scopes" TEXT[],
    "app_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_resource_server_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "oauth_resource_server_identifier_key" ON "oauth_resource_server"("identifier");
CREATE UNIQUE INDEX "oauth_resource_server_app_id_key" ON "oauth_resource_server"("app_id");

ALTER TABLE "oauth_resource_server" ADD CONSTRAINT "oauth_resource_server_app_id_fkey"
    FOREIGN KEY ("app_id") REFERENCES "oauth_app"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "oauth_consent" ADD COLUMN "resources" TEXT[] DEFAULT ARRAY[]::TEXT[];
