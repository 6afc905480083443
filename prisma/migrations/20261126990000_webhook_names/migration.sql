-- A webhook has a name of its owner's choice, and may receive only some kinds of events of its domains; an empty list means all of them.
ALTER TABLE "webhook" ADD COLUMN "name" TEXT, ADD COLUMN "events" TEXT[] DEFAULT ARRAY[]::TEXT[];
