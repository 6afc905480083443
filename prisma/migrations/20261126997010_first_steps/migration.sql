-- When a user dismissed the checklist of first steps on their start page.
ALTER TABLE "user" ADD COLUMN "first_steps_dismissed_at" TIMESTAMPTZ(3);
