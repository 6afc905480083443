-- What was judged before a deletion of large files may refer to them (core/hub/git/refs/change-refs.ts).
ALTER TABLE "repo" ADD COLUMN "lfs_removed_at" TIMESTAMPTZ(3);

-- Of new repositories whose creator does not choose.
ALTER TABLE "organization" ADD COLUMN "default_visibility" TEXT NOT NULL DEFAULT 'public';
