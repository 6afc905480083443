"use client";

import { useRouter } from "next/navigation";
import { startTransition, useEffect, useState } from "react";
import { classNames } from "../../class-names.ts";

type LiveTailProps = Readonly<{
  streamPath: string;
  tail: string;
  /** Set while something is in progress that the stream does not report. */
  isBusy: boolean;
}>;

type State = "off" | "connecting" | "live";

const STORAGE_KEY = "webhook-activity-live";
const REFRESH_MS = 1_000;
const BUSY_MS = 2_000;
const MARKED_MS = 3_000;
const RETRY_MS = 15_000;

let unmark: ReturnType<typeof setTimeout> | undefined;

/** The mark ends soon. Rows of a page or a filter that the user opens later must not be marked. */
function markNewRows(): void {
  clearTimeout(unmark);
  document.documentElement.dataset.live = "";
  unmark = setTimeout(() => {
    delete document.documentElement.dataset.live;
  }, MARKED_MS);
}

/** Refreshes the page instead of rendering events, so that only the server renders rows. */
export function LiveTail({ streamPath, tail, isBusy }: LiveTailProps) {
  const router = useRouter();
  const [first] = useState(tail);
  const [isOn, setOn] = useState(true);
  const [state, setState] = useState<State>("off");
  useEffect(() => setOn(sessionStorage.getItem(STORAGE_KEY) !== "off"), []);

  useEffect(() => {
    if (!isOn) {
      setState("off");
      return;
    }
    setState("connecting");
    let due: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    let isStale = false;
    const refreshIfStale = () => {
      if (isStale && !document.hidden) refresh();
    };
    document.addEventListener("visibilitychange", refreshIfStale);
    const refresh = () => {
      if (document.hidden) {
        isStale = true;
        return;
      }
      isStale = false;
      due ??= setTimeout(
        () => {
          due = undefined;
          last = Date.now();
          markNewRows();
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
        // The browser opens a lost connection again, but not a refused one.
        if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, RETRY_MS);
      };
      source.addEventListener("delivery", refresh);
      source.addEventListener("reset", refresh);
    };
    open();
    return () => {
      clearTimeout(due);
      document.removeEventListener("visibilitychange", refreshIfStale);
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
    sessionStorage.setItem(STORAGE_KEY, isOn ? "off" : "on");
    setOn(!isOn);
  };
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      onClick={toggle}
      title={isOn ? "New deliveries appear automatically. Press to pause the list." : "The list is paused. Press to continue."}
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
