-- A page of a list ends by bytes too: a thousand cards that each unfold to half a megabyte took the memory and the time of a process
-- (core/hub/repos/list-repos.ts).
ALTER TABLE "repo" ADD COLUMN "card_bytes" INTEGER NOT NULL GENERATED ALWAYS AS (COALESCE(octet_length("card"::text), 0)) STORED;
