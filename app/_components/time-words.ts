export const timeLooks = {
  /** `November 21, 2026 at 2:03:22 PM GMT+1` */
  exact: {
    year: "numeric",
    month: "long",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  },
  /** `Nov 21, 2026` */
  date: { dateStyle: "medium" },
  /** `Nov 21, 14:03` */
  minute: { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  /** `14:03:22` */
  clock: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  /** `Sat 14:00` */
  hour: { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  /** `Nov 21` */
  day: { month: "short", day: "numeric" },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeLook = keyof typeof timeLooks;

// Formatters are kept, because each has tens of kilobytes outside the JavaScript heap, which the garbage collector does not see.
const formatters = new Map<string, Intl.DateTimeFormat>();

export function timeInZone(at: Date, look: TimeLook, timeZone = "UTC"): string {
  const key = `${look} ${timeZone}`;
  const formatter = formatters.get(key) ?? new Intl.DateTimeFormat("en", { ...timeLooks[look], timeZone });
  formatters.set(key, formatter);
  return formatter.format(at);
}
