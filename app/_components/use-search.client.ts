"use client";

import { useEffect, useState } from "react";

const PAUSE_MS = 150;

type Found<Item> = {
  /** While a search runs, these are the results for an earlier text. */
  items: readonly Item[];
  state: "searching" | "found" | "failed";
};

/** Ignores responses for earlier texts. @param path the route that responds to `?search=` with `{items}` */
export function useSearch<Item>(path: string, typed: string): Found<Item> {
  const search = typed.trim();
  const [last, setLast] = useState<Found<Item> & { search: string }>({ search: "", items: [], state: "found" });
  useEffect(() => {
    const end = (items: readonly Item[], state: "found" | "failed" = "found") => setLast({ search, items, state });
    if (search === "") return end([]);
    const over = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const answer = await fetch(`${path}?search=${encodeURIComponent(search)}`, { signal: over.signal });
        if (answer.ok) end((await answer.json()).items);
        else end([], "failed");
      } catch {
        if (!over.signal.aborted) end([], "failed");
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [path, search]);
  return last.search === search ? last : { ...last, state: "searching" };
}
