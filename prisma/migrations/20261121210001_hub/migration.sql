-- The hub: repositories and what is said about them, the events that their changes make, and who watches.

CREATE TABLE "repo" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "owner_kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "name_canonical" TEXT NOT NULL,
    "is_private" BOOLEAN NOT NULL DEFAULT false,
    "gated" TEXT NOT NULL DEFAULT 'none',
    "gate_prompt" TEXT,
    "sdk" TEXT,
    "description" TEXT,
    "default_branch" TEXT NOT NULL DEFAULT 'main',
    "head_sha" TEXT,
    "size_bytes" BIGINT NOT NULL DEFAULT 0,
    "tags" TEXT[],
    "card" JSONB,
    "is_read_only" BOOLEAN NOT NULL DEFAULT false,
    "is_default_branch_protected" BOOLEAN NOT NULL DEFAULT true,
    "has_discussions" BOOLEAN NOT NULL DEFAULT true,
    "last_discussion_num" INTEGER NOT NULL DEFAULT 0,
    "created_by_id" TEXT,
    "created_by_client_id" TEXT,
    "platform_id" TEXT,
    "external_id" TEXT,
    "external_url" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "repo_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "repo_owner_id_type_name_canonical_key" ON "repo"("owner_id", "type", "name_canonical");
CREATE UNIQUE INDEX "repo_platform_id_external_id_key" ON "repo"("platform_id", "external_id");
CREATE INDEX "repo_type_is_private_updated_at_id_idx" ON "repo"("type", "is_private", "updated_at" DESC, "id");
CREATE INDEX "repo_owner_id_updated_at_idx" ON "repo"("owner_id", "updated_at" DESC);

CREATE TABLE "repo_former_name" (
    "owner_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "name_canonical" TEXT NOT NULL,
    "repo_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "repo_former_name_pkey" PRIMARY KEY ("owner_id", "type", "name_canonical")
);

CREATE INDEX "repo_former_name_repo_id_idx" ON "repo_former_name"("repo_id");

CREATE TABLE "repo_removal" (
    "repo_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "repo_removal_pkey" PRIMARY KEY ("repo_id")
);

CREATE TABLE "ref_update" (
    "id" TEXT NOT NULL,
    "repo_id" TEXT NOT NULL,
    "actor_id" TEXT,
    "asked" JSONB NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ref_update_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "ref_update_repo_id_idx" ON "ref_update"("repo_id");
CREATE INDEX "ref_update_claimed_until_idx" ON "ref_update"("claimed_until");

CREATE TABLE "lfs_object" (
    "repo_id" TEXT NOT NULL,
    "oid" TEXT NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "lfs_object_pkey" PRIMARY KEY ("repo_id", "oid")
);

CREATE INDEX "lfs_object_oid_idx" ON "lfs_object"("oid");

CREATE TABLE "access_request" (
    "id" TEXT NOT NULL,
    "repo_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "message" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "decided_at" TIMESTAMPTZ(3),
    "decided_by_id" TEXT,

    CONSTRAINT "access_request_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "access_request_repo_id_user_id_key" ON "access_request"("repo_id", "user_id");
CREATE INDEX "access_request_repo_id_status_created_at_idx" ON "access_request"("repo_id", "status", "created_at");
CREATE INDEX "access_request_user_id_idx" ON "access_request"("user_id");

CREATE TABLE "discussion" (
    "id" TEXT NOT NULL,
    "repo_id" TEXT NOT NULL,
    "num" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'open',
    "is_pull_request" BOOLEAN NOT NULL DEFAULT false,
    "is_pinned" BOOLEAN NOT NULL DEFAULT false,
    "is_locked" BOOLEAN NOT NULL DEFAULT false,
    "author_id" TEXT,
    "base_ref" TEXT,
    "merge_commit_sha" TEXT,
    "comment_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "discussion_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "discussion_repo_id_num_key" ON "discussion"("repo_id", "num");
CREATE INDEX "discussion_repo_id_status_num_idx" ON "discussion"("repo_id", "status", "num" DESC);
CREATE INDEX "discussion_author_id_idx" ON "discussion"("author_id");

CREATE TABLE "discussion_event" (
    "id" TEXT NOT NULL,
    "discussion_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "author_id" TEXT,
    "content" TEXT,
    "is_hidden" BOOLEAN NOT NULL DEFAULT false,
    "hidden_by_id" TEXT,
    "edit_count" INTEGER NOT NULL DEFAULT 0,
    "edited_at" TIMESTAMPTZ(3),
    "data" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "discussion_event_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "discussion_event_discussion_id_created_at_id_idx" ON "discussion_event"("discussion_id", "created_at", "id");
CREATE INDEX "discussion_event_author_id_idx" ON "discussion_event"("author_id");

CREATE TABLE "comment_reaction" (
    "comment_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "reaction" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "comment_reaction_pkey" PRIMARY KEY ("comment_id", "user_id", "reaction")
);

CREATE TABLE "collection" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "owner_kind" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "theme" TEXT NOT NULL DEFAULT 'blue',
    "is_private" BOOLEAN NOT NULL DEFAULT false,
    "created_by_id" TEXT,
    "created_by_client_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "collection_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "collection_owner_id_updated_at_idx" ON "collection"("owner_id", "updated_at" DESC);
CREATE INDEX "collection_is_private_updated_at_id_idx" ON "collection"("is_private", "updated_at" DESC, "id");

CREATE TABLE "collection_item" (
    "id" TEXT NOT NULL,
    "collection_id" TEXT NOT NULL,
    "repo_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "note" TEXT,
    "added_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "collection_item_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "collection_item_collection_id_repo_id_key" ON "collection_item"("collection_id", "repo_id");
CREATE INDEX "collection_item_repo_id_idx" ON "collection_item"("repo_id");

CREATE TABLE "event" (
    "id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "repo_id" TEXT NOT NULL,
    "repo_type" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "is_private" BOOLEAN NOT NULL,
    "actor_id" TEXT,
    "payload" JSONB NOT NULL,
    "source" TEXT,
    "source_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "event_source_source_id_key" ON "event"("source", "source_id");
CREATE INDEX "event_repo_id_created_at_idx" ON "event"("repo_id", "created_at" DESC);
CREATE INDEX "event_created_at_idx" ON "event"("created_at");

CREATE TABLE "platform" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "platform_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "platform_name_key" ON "platform"("name");
CREATE UNIQUE INDEX "platform_token_hash_key" ON "platform"("token_hash");

CREATE TABLE "webhook" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "owner_kind" TEXT NOT NULL,
    "url" TEXT,
    "domains" TEXT[],
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "webhook_owner_id_idx" ON "webhook"("owner_id");

CREATE TABLE "webhook_watch" (
    "webhook_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "target_id" TEXT NOT NULL,

    CONSTRAINT "webhook_watch_pkey" PRIMARY KEY ("webhook_id", "target_id")
);

CREATE INDEX "webhook_watch_target_id_idx" ON "webhook_watch"("target_id");

ALTER TABLE "repo_former_name" ADD CONSTRAINT "repo_former_name_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ref_update" ADD CONSTRAINT "ref_update_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "lfs_object" ADD CONSTRAINT "lfs_object_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "access_request" ADD CONSTRAINT "access_request_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "discussion" ADD CONSTRAINT "discussion_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "collection_item" ADD CONSTRAINT "collection_item_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "discussion_event" ADD CONSTRAINT "discussion_event_discussion_id_fkey"
    FOREIGN KEY ("discussion_id") REFERENCES "discussion"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "comment_reaction" ADD CONSTRAINT "comment_reaction_comment_id_fkey"
    FOREIGN KEY ("comment_id") REFERENCES "discussion_event"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "collection_item" ADD CONSTRAINT "collection_item_collection_id_fkey"
    FOREIGN KEY ("collection_id") REFERENCES "collection"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "webhook_watch" ADD CONSTRAINT "webhook_watch_webhook_id_fkey"
    FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;
