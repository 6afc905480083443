export type RelativeTimeProps = Readonly<{
  at: Date;
  /** The moment it is relative to; the time of rendering unless told. */
  now?: Date;
}>;

const MINUTE = 60;
const steps = [
  { unit: "minute", seconds: MINUTE, until: 60 * MINUTE },
  { unit: "hour", seconds: 60 * MINUTE, until: 24 * 60 * MINUTE },
  { unit: "day", seconds: 24 * 60 * MINUTE, until: 30 * 24 * 60 * MINUTE },
] as const;

const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const day = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });
const exact = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "medium", timeZone: "UTC" });

/** A time as people say it, with the exact one (UTC) on hover. Older than a month it is a date. */
export function RelativeTime({ at, now = new Date() }: RelativeTimeProps) {
  return (
    <time dateTime={at.toISOString()} title={`${exact.format(at)} UTC`} className="whitespace-nowrap">
      {relativeTime(at, now)}
    </time>
  );
}

/** `3 minutes ago`, `tomorrow`, `Nov 2, 2026`. */
export function relativeTime(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  if (Math.abs(seconds) < MINUTE) return seconds > 0 ? "in a moment" : "just now";
  const step = steps.find(({ until }) => Math.abs(seconds) < until);
  if (!step) return day.format(at);
  // What ends in 7 days but a moment ends in 7 days; what began 7 days ago but a moment is not a week old yet.
  const count = seconds > 0 ? Math.round(seconds / step.seconds) : Math.trunc(seconds / step.seconds);
  return words.format(count, step.unit);
}
