"use client";

import { useEffect, useRef } from "react";

/** Brings the panel that was just opened into sight where it is below the list, and the keyboard with it. */
export function ShowPanel({ of }: Readonly<{ of: string }>) {
  const mark = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const panel = of ? mark.current?.closest("aside") : undefined;
    if (!panel || panel.getBoundingClientRect().top < window.innerHeight * 0.8) return;
    const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    panel.scrollIntoView({ behavior: isCalm ? "instant" : "smooth", block: "start" });
    panel.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
  }, [of]);
  return <span ref={mark} hidden />;
}
