-- Large files of pull requests by people who may not write (docs/decisions/038): a row of `repo`, of type `proposals`, has what one user has
-- uploaded for pull requests to one repository. It belongs to the user, whose quota it uses, and no name leads to it.
ALTER TABLE "repo" ADD COLUMN "proposed_to_id" TEXT;
ALTER TABLE "repo" ADD CONSTRAINT "repo_proposed_to_id_fkey" FOREIGN KEY ("proposed_to_id") REFERENCES "repo"("id")
    ON DELETE CASCADE ON UPDATE CASCADE;
CREATE INDEX "repo_proposed_to_id_idx" ON "repo"("proposed_to_id");

-- Which of these files a repository's pull requests contain.
CREATE TABLE "proposed_file" (
    "repo_id" TEXT NOT NULL,
    "blob" TEXT NOT NULL,
    "num" INTEGER NOT NULL,
    "oid" TEXT NOT NULL,
    "store_id" TEXT,

    CONSTRAINT "proposed_file_pkey" PRIMARY KEY ("repo_id", "blob", "num"),
    CONSTRAINT "proposed_file_repo_id_fkey" FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "proposed_file_repo_id_oid_idx" ON "proposed_file"("repo_id", "oid");
CREATE INDEX "proposed_file_store_id_oid_idx" ON "proposed_file"("store_id", "oid");

-- The rows stay, so that a merge finds out that content is gone.
CREATE FUNCTION "forget_proposed_files"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE proposed_file p SET store_id = NULL FROM gone g WHERE p.store_id = g.repo_id AND p.oid = g.oid;
    RETURN NULL;
END $$;
CREATE TRIGGER "lfs_object_proposed" AFTER DELETE ON "lfs_object"
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "forget_proposed_files"();
