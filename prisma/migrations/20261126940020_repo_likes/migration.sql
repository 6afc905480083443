-- Who likes a repository, and how many do. A trigger counts, because likes also go with their user.
CREATE TABLE "repo_like" (
    "repo_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "repo_like_pkey" PRIMARY KEY ("repo_id", "user_id")
);
CREATE INDEX "repo_like_user_id_created_at_idx" ON "repo_like"("user_id", "created_at");
ALTER TABLE "repo_like" ADD CONSTRAINT "repo_like_repo_id_fkey"
    FOREIGN KEY ("repo_id") REFERENCES "repo"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "repo_like" ADD CONSTRAINT "repo_like_user_id_fkey"
    FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "repo" ADD COLUMN "likes" INTEGER NOT NULL DEFAULT 0;
CREATE FUNCTION "count_repo_like"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE repo SET likes = likes + 1 WHERE id = NEW.repo_id;
    ELSE
        UPDATE repo SET likes = greatest(0, likes - 1) WHERE id = OLD.repo_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "repo_like_counted" AFTER INSERT OR DELETE ON "repo_like" FOR EACH ROW EXECUTE FUNCTION "count_repo_like"();
