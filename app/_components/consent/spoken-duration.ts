const units = [
  { unit: "day", seconds: 86_400 },
  { unit: "hour", seconds: 3_600 },
  { unit: "minute", seconds: 60 },
  { unit: "second", seconds: 1 },
] as const;

/** A length of time in the largest unit that tells it exactly: `8 hours`, `30 days`, `90 minutes`. */
export function spokenDuration(seconds: number): string {
  const found = units.find((each) => seconds % each.seconds === 0) ?? units[3];
  const count = seconds / found.seconds;
  return `${count} ${found.unit}${count === 1 ? "" : "s"}`;
}
