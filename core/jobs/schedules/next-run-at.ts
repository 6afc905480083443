import { Cron } from "croner";
import { invalidRequest } from "../../errors.ts";

const scheduleNames = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"] as const;

const SCHEDULE_MAX = 200;
/** 29 February may fall on a given weekday only after 40 years. A longer search takes too long (S137). */
const YEARS = 41;
/** Five fields allow no seconds, so no job starts more often than once a minute. A date is not a schedule. */
const FIVE_FIELDS = /^\S+( \S+){4}$/;

/** @throws ServiceError `invalid_request`, also for a schedule that is never due */
export function parseSchedule(input: { schedule: string; timezone?: string | null }): { schedule: string; timezone: string } {
  const schedule = input.schedule.trim().replace(/\s+/g, " ");
  const isNamed = scheduleNames.some((name) => name === schedule.toLowerCase());
  if (schedule.length > SCHEDULE_MAX || !(isNamed || FIVE_FIELDS.test(schedule))) throw notUnderstood();
  const kept = { schedule: isNamed ? schedule.toLowerCase() : schedule, timezone: parseTimezone(input.timezone || "UTC") };
  if (!nextRunAt(kept, new Date()))
    throw invalidRequest("This schedule never runs: no date matches it. Correct the day or the month.", "schedule");
  return kept;
}

function parseTimezone(name: string): string {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    const sentence = "Enter a time zone from the IANA list, such as Europe/Zurich, America/New_York or UTC.";
    throw invalidRequest(sentence, "timezone");
  }
}

/** A time that the clocks skip is due after the gap. A time that is shown twice is due once. */
export function nextRunAt({ schedule, timezone }: { schedule: string; timezone: string }, after: Date): Date | null {
  const year = after.getUTCFullYear();
  const [pattern, mode] = schedule.startsWith("@")
    ? ([schedule, "5-part"] as const)
    : ([`0 ${schedule} ${year}-${year + YEARS}`, "7-part"] as const);
  try {
    return new Cron(pattern, { timezone, paused: true, mode }).nextRun(after);
  } catch {
    throw notUnderstood();
  }
}

const notUnderstood = () =>
  invalidRequest(
    "Enter five fields (minute, hour, day of the month, month, day of the week), such as 0 9 * * 1 for Mondays at nine; or one of @hourly, @daily, @weekly, @monthly, @yearly.",
    "schedule",
  );
