"use client";

import { useEffect, useState } from "react";
import { LocalTime } from "../../local-time.client.tsx";

type NextTryProps = Readonly<{
  /** The due time and the time of rendering, in milliseconds since 1970 by the service's clock. */
  at: number;
  now: number;
}>;

export function NextTry({ at, now }: NextTryProps) {
  // After a refresh the countdown starts from the new time.
  return <Countdown key={`${at} ${now}`} at={at} now={now} />;
}

function Countdown({ at, now }: NextTryProps) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const begin = performance.now();
    const timer = setInterval(() => setPassed(performance.now() - begin), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <LocalTime at={new Date(at)}>{formatWait((at - now - passed) / 1_000)}</LocalTime>;
}

function formatWait(seconds: number): string {
  if (seconds < 1) return "any moment";
  if (seconds < 100) return `in ${Math.round(seconds)} s`;
  if (seconds < 100 * 60) return `in ${Math.round(seconds / 60)} min`;
  return `in ${Math.round(seconds / 3_600)} h`;
}
