"use client";

import { useEffect, useState } from "react";

export type NextTryProps = Readonly<{
  /** When, and when this was drawn: milliseconds since 1970, of the service's clock. */
  at: number;
  now: number;
}>;

/** How long until something is due, counted down while it is looked at: `in 41 s`. */
export function NextTry({ at, now }: NextTryProps) {
  // Drawn anew, it counts from that moment.
  return <Countdown key={`${at} ${now}`} at={at} now={now} />;
}

function Countdown({ at, now }: NextTryProps) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const begin = performance.now();
    const timer = setInterval(() => setPassed(performance.now() - begin), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={new Date(at).toISOString()} title={`${new Date(at).toISOString().replace("T", " ").slice(0, 19)} UTC`}>
      {spokenWait((at - now - passed) / 1_000)}
    </time>
  );
}

function spokenWait(seconds: number): string {
  if (seconds < 1) return "any moment";
  if (seconds < 100) return `in ${Math.round(seconds)} s`;
  if (seconds < 100 * 60) return `in ${Math.round(seconds / 60)} min`;
  return `in ${Math.round(seconds / 3_600)} h`;
}
