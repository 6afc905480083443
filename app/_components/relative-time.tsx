import { LocalTime } from "./local-time.client.tsx";
import { timeInZone } from "./time-words.ts";

type RelativeTimeProps = Readonly<{
  at: Date;
  now?: Date;
}>;

const MINUTE = 60;
const steps = [
  { unit: "minute", seconds: MINUTE, until: 60 * MINUTE },
  { unit: "hour", seconds: 60 * MINUTE, until: 24 * 60 * MINUTE },
  { unit: "day", seconds: 24 * 60 * MINUTE, until: 30 * 24 * 60 * MINUTE },
] as const;

const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function RelativeTime({ at, now = new Date() }: RelativeTimeProps) {
  return (
    <LocalTime at={at} look="date">
      {relativeWords(at, now)}
    </LocalTime>
  );
}

export function LastUsed({ at }: Readonly<{ at: Date | null }>) {
  if (!at) return "never used";
  return (
    <>
      last used <RelativeTime at={at} />
    </>
  );
}

export function relativeTime(at: Date, now: Date): string {
  return relativeWords(at, now) ?? timeInZone(at, "date");
}

/** Returns undefined for a time more than a month away. */
function relativeWords(at: Date, now: Date): string | undefined {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  if (Math.abs(seconds) < MINUTE) return seconds > 0 ? "in a moment" : "just now";
  const step = steps.find(({ until }) => Math.abs(seconds) < until);
  if (!step) return undefined;
  // Future times are rounded: almost 7 days from now is "in 7 days". Past times are cut off: almost 7 days ago is not a week yet.
  const count = seconds > 0 ? Math.round(seconds / step.seconds) : Math.trunc(seconds / step.seconds);
  return words.format(count, step.unit);
}

const units = [
  { unit: "day", seconds: 86_400 },
  { unit: "hour", seconds: 3_600 },
  { unit: "minute", seconds: 60 },
  { unit: "second", seconds: 1 },
] as const;

export function formatDuration(seconds: number): string {
  const found = units.find((each) => seconds % each.seconds === 0) ?? units[3];
  const count = seconds / found.seconds;
  return `${count} ${found.unit}${count === 1 ? "" : "s"}`;
}
