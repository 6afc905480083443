"use client";

import { type ReactNode, useSyncExternalStore } from "react";
import { classNames } from "./class-names.ts";
import { type TimeLook, timeInZone } from "./time-words.ts";

const never = () => () => undefined;
const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** Returns UTC on the server and until the page's scripts run. */
export function useTimeZone(): string {
  return useSyncExternalStore(never, ownZone, () => "UTC");
}

type LocalTimeProps = Readonly<{
  at: Date;
  look?: TimeLook;
  className?: string;
  children?: ReactNode;
}>;

export function LocalTime({ at, look = "exact", className, children }: LocalTimeProps) {
  const zone = useTimeZone();
  return (
    <time
      dateTime={at.toISOString()}
      title={timeInZone(at, "exact", zone)}
      className={classNames("whitespace-nowrap", className)}
      // Browsers and Node format some spaces of a time differently.
      suppressHydrationWarning
    >
      {children ?? timeInZone(at, look, zone)}
    </time>
  );
}
