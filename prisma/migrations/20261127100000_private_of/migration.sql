-- The owner of an item's collection while the collection is private: strangers' private collections are never read to find the public ones
-- that contain a repository. Triggers keep it, so that the version before this one writes it too.
ALTER TABLE "collection_item" ADD COLUMN "private_of" TEXT;

CREATE FUNCTION "set_private_of"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.private_of := (SELECT owner_id FROM collection WHERE id = NEW.collection_id AND is_private);
    RETURN NEW;
END $$;
CREATE TRIGGER "private_of_set" BEFORE INSERT ON "collection_item" FOR EACH ROW EXECUTE FUNCTION "set_private_of"();

CREATE FUNCTION "change_private_of"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE collection_item SET private_of = CASE WHEN NEW.is_private THEN NEW.owner_id END WHERE collection_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER "private_of_changed" AFTER UPDATE OF "is_private" ON "collection" FOR EACH ROW
    WHEN (NEW.is_private IS DISTINCT FROM OLD.is_private) EXECUTE FUNCTION "change_private_of"();

UPDATE "collection_item" i SET "private_of" = c."owner_id" FROM "collection" c WHERE c."id" = i."collection_id" AND c."is_private";
