"use client";

import { useEffect } from "react";

export function ListKeys() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      if (step === 0 || event.altKey || event.ctrlKey || event.metaKey || isTyping(event)) return;
      const rows = [...document.querySelectorAll<HTMLElement>("[data-rows] > li")].filter((row) => row.querySelector("a[href]"));
      const at = rows.findIndex((row) => row.contains(document.activeElement));
      const next = at < 0 ? rows.at(step > 0 ? 0 : -1) : rows[at + step];
      next?.querySelector<HTMLElement>("a[href]")?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return null;
}

const TYPING = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true], dialog, [popover]";

export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest(TYPING) !== null;
}
