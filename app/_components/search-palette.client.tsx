"use client";

import { Search } from "lucide-react";
import { useRouter } from "next/navigation";
import { type KeyboardEvent as ReactKeyboardEvent, useId, useState } from "react";
import { classNames } from "./class-names.ts";
import type { ExcerptParts } from "./excerpt.tsx";
import { useSearch } from "./use-search.client.ts";

export type FoundItem = Readonly<{
  href: string;
  label: string;
  hint: string;
  excerpt?: ExcerptParts;
}>;
export type FoundGroup = Readonly<{ label: string; items: readonly FoundItem[] }>;

const stateWords = {
  searching: "Searching…",
  found: "No results",
  failed: "The search failed. Press Enter to open the search page.",
};

export function SearchPalette({ close }: Readonly<{ close: () => void }>) {
  const id = useId();
  const router = useRouter();
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const { items: groups, state } = useSearch<FoundGroup>("/search/find", typed);
  const items = groups.flatMap((group) => group.items);
  const go = (href: string) => {
    close();
    router.push(href);
  };
  const onKeyDown = (event: ReactKeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && items.length > 0) {
      event.preventDefault();
      const next = (active + step + items.length) % items.length;
      setActive(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      const { href } = (state === "found" && items[active]) || {};
      if (href) go(href);
      else if (typed.trim() !== "") go(`/search?search=${encodeURIComponent(typed.trim())}`);
    }
  };
  const hasFound = items.length > 0 && state === "found";
  let index = -1;
  return (
    <>
      <div className="flex items-center gap-2.5 px-4">
        <Search className="size-4 shrink-0 text-muted" aria-hidden="true" />
        <input
          // biome-ignore lint/a11y/noAutofocus: a dialog moves the focus into itself
          autoFocus
          role="combobox"
          aria-label="Search repositories, people, pages and docs"
          aria-expanded={items.length > 0}
          aria-controls={`${id}-found`}
          aria-activedescendant={items.length > 0 ? `${id}-${active}` : undefined}
          placeholder="Search repositories, people, pages and docs"
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          className="h-12 min-w-0 flex-1 bg-transparent outline-none"
        />
        <kbd className="text-fine text-muted max-sm:hidden">Esc</kbd>
      </div>
      <div
        id={`${id}-found`}
        role="listbox"
        aria-label="Results"
        className={classNames("max-h-[60vh] overflow-y-auto border-line border-t p-2", items.length === 0 && "hidden")}
      >
        {groups.map(({ label, items: found }) => (
          // biome-ignore lint/a11y/useSemanticElements: options are in groups of their list, not in a set of fields
          <div key={label} role="group" aria-label={label}>
            <p aria-hidden="true" className="px-2 pt-2 pb-1 text-fine text-muted">
              {label}
            </p>
            {found.map(({ href, label: name, hint }) => {
              index += 1;
              const at = index;
              return (
                <a
                  key={href}
                  id={`${id}-${at}`}
                  role="option"
                  aria-selected={at === active}
                  tabIndex={-1}
                  href={href}
                  onMouseMove={() => setActive(at)}
                  onClick={(event) => {
                    if (event.metaKey || event.ctrlKey) return;
                    event.preventDefault();
                    go(href);
                  }}
                  className={classNames(
                    "flex items-baseline gap-3 rounded-control px-2 py-1.5 text-small",
                    at === active && "bg-line",
                  )}
                >
                  <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
                  <span className={classNames("max-w-3/5 shrink-0 truncate text-fine", at !== active && "text-muted")}>
                    {hint}
                  </span>
                </a>
              );
            })}
          </div>
        ))}
      </div>
      <p
        role="status"
        className={
          typed.trim() === ""
            ? "sr-only"
            : classNames("border-line border-t px-4 py-2 text-fine text-muted", hasFound && "max-sm:sr-only")
        }
      >
        {typed.trim() === "" ? "" : hasFound ? "↑↓ to move, Enter to open" : stateWords[state]}
      </p>
    </>
  );
}
