-- Workers make one place at a time for a Space that waits: none while another one becomes free.
CREATE INDEX "space_runtime_leaving" ON "space_runtime"("claimed_until") WHERE NOT "is_wanted" AND "claimed_until" IS NOT NULL;
