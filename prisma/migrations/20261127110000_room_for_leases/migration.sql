-- A lease changes no index if the new version of an event fits on the page of the old one. Pages written before stay full.
ALTER TABLE "event" SET (fillfactor = 60);
