"use client";

import { useRouter } from "next/navigation";
import { startTransition, useEffect, useState } from "react";
import { classNames } from "../../class-names.ts";

export type LiveTailProps = Readonly<{
  /** Says so, as server-sent events, whenever there is news of this webhook. */
  streamPath: string;
  /** From which the stream goes on where the page as it was first drawn ends. */
  tail: string;
  /** Something else is going on that the stream does not tell of. */
  isBusy: boolean;
}>;

type State = "off" | "connecting" | "live";

const KEPT_AS = "webhook-activity-live";
/** The page is drawn anew so often at most, however much arrives. */
const REFRESH_MS = 1_000;
const BUSY_MS = 2_000;
const MARKED_MS = 3_000;
const AGAIN_MS = 15_000;

let unmark: ReturnType<typeof setTimeout> | undefined;

/** Rows that appear from now on are new (globals.css); those of another page or filter, later, are not. */
function markNews(): void {
  clearTimeout(unmark);
  document.documentElement.dataset.live = "";
  unmark = setTimeout(() => {
    delete document.documentElement.dataset.live;
  }, MARKED_MS);
}

/**
 * Keeps the page up to date while it is looked at. The news itself is not drawn here: the page is asked for again, so that filters, the
 * chart and what is open hold, and there is one way in which a row is drawn.
 */
export function LiveTail({ streamPath, tail, isBusy }: LiveTailProps) {
  const router = useRouter();
  const [first] = useState(tail);
  const [isOn, setOn] = useState(true);
  const [state, setState] = useState<State>("off");
  useEffect(() => setOn(sessionStorage.getItem(KEPT_AS) !== "off"), []);

  useEffect(() => {
    if (!isOn) {
      setState("off");
      return;
    }
    setState("connecting");
    let due: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    let isStale = false;
    const look = () => {
      if (isStale && !document.hidden) refresh();
    };
    document.addEventListener("visibilitychange", look);
    const refresh = () => {
      // What nobody looks at is drawn when they do.
      if (document.hidden) {
        isStale = true;
        return;
      }
      isStale = false;
      due ??= setTimeout(
        () => {
          due = undefined;
          last = Date.now();
          markNews();
          startTransition(() => router.refresh());
        },
        Math.max(50, last + REFRESH_MS - Date.now()),
      );
    };
    let source: EventSource | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      source = new EventSource(`${streamPath}?tail=${first}`);
      source.onopen = () => setState("live");
      source.onerror = () => {
        setState("connecting");
        // A connection that was lost is made again by itself; one that was refused is not.
        if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS);
      };
      source.addEventListener("delivery", refresh);
      source.addEventListener("reset", refresh);
    };
    open();
    return () => {
      clearTimeout(due);
      document.removeEventListener("visibilitychange", look);
      clearTimeout(again);
      source?.close();
    };
  }, [isOn, router, streamPath, first]);

  useEffect(() => {
    if (!isOn || !isBusy) return;
    const timer = setInterval(() => startTransition(() => router.refresh()), BUSY_MS);
    return () => clearInterval(timer);
  }, [isOn, isBusy, router]);

  const toggle = () => {
    sessionStorage.setItem(KEPT_AS, isOn ? "off" : "on");
    setOn(!isOn);
  };
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      onClick={toggle}
      title={isOn ? "New deliveries appear by themselves. Press to hold the list still." : "The list is held still."}
      className={classNames(
        "inline-flex min-h-8 items-center gap-1.5 rounded-full px-3 font-medium text-fine noscript:hidden",
        isOn ? "bg-good-soft text-good" : "bg-sunken text-muted",
      )}
    >
      <span
        aria-hidden="true"
        className={classNames("size-2 rounded-full", state === "live" ? "bg-good" : "border border-current")}
      />
      Live
      <span className="sr-only">{state === "connecting" ? ", connecting" : ""}</span>
    </button>
  );
}
