"use client";

import { useRouter } from "next/navigation";
import { useEffect, useLayoutEffect, useRef } from "react";
import { isTyping } from "../../list-keys.client.tsx";

const rowOf = (id: string) => document.querySelector<HTMLElement>(`[data-delivery="${id}"]`);

export function FocusPanel({ of, closed }: Readonly<{ of: string; closed: string }>) {
  const router = useRouter();
  const mark = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const panel = mark.current?.closest("aside");
    panel?.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
    return () => {
      const { activeElement: focused, body } = document;
      if (!focused || focused === body || panel?.contains(focused)) rowOf(of)?.focus({ preventScroll: true });
    };
  }, [of]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !isTyping(event) && !document.querySelector("dialog[open], details[name][open]"))
        router.push(closed, { scroll: false });
    };
    // Runs before the listener that closes an open question, so that Escape closes only the question.
    document.addEventListener("keydown", onKey, true);
    return () => document.removeEventListener("keydown", onKey, true);
  }, [router, closed]);
  return <span ref={mark} hidden />;
}

const steps: Readonly<Record<string, number>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

export function ActivityKeys() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = steps[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || isTyping(event)) return;
      const rows = [...document.querySelectorAll<HTMLElement>("[data-delivery]")];
      const focused = rows.indexOf(document.activeElement as HTMLElement);
      if (focused < 0 && event.key.startsWith("Arrow")) return;
      const open = rows.findIndex((row) => row.ariaCurrent === "true");
      const next = rows[(focused < 0 ? open : focused) + step] ?? (open < 0 && focused < 0 ? rows[0] : undefined);
      if (!next) return;
      event.preventDefault();
      next.focus();
      if (open >= 0) next.click();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return null;
}

export function SelectAll() {
  const all = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const form = all.current?.form;
    const onChange = ({ target }: Event) => {
      const box = all.current;
      const boxes = [...(form?.querySelectorAll<HTMLInputElement>("input[name=delivery]") ?? [])];
      if (!box) return;
      if (target === box) for (const one of boxes) one.checked = box.checked;
      const count = boxes.filter(({ checked }) => checked).length;
      box.checked = count > 0 && count === boxes.length;
      box.indeterminate = count > 0 && count < boxes.length;
    };
    form?.addEventListener("change", onChange);
    return () => form?.removeEventListener("change", onChange);
  }, []);
  return (
    <label className="flex min-h-9 items-center border-line border-b text-muted text-small noscript:hidden">
      <span className="grid w-10 shrink-0 place-items-center">
        <input ref={all} type="checkbox" className="size-4" />
      </span>
      Select all on this page
    </label>
  );
}
