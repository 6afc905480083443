-- Replaced by event_begun_of_owner. During the upgrade, the previous version's workers use event_to_fan_out instead.
DROP INDEX "event_begun";
