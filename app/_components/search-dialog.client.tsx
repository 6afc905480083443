"use client";

import { Search } from "lucide-react";
import Link from "next/link";
import { useCallback, useEffect, useRef, useState } from "react";
import { buttonClass } from "./button-class.ts";
import { isTyping } from "./list-keys.client.tsx";
import type { SearchPalette } from "./search-palette.client.tsx";

const loadPalette = () => import("./search-palette.client.tsx");

/** Without scripts, this is a link to the search page. The content is loaded on use, because every page has this link. */
export function SearchDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [Palette, setPalette] = useState<typeof SearchPalette>();
  const open = useCallback(async () => {
    try {
      const loaded = await loadPalette();
      if (!dialog.current?.open) dialog.current?.showModal();
      setPalette(() => loaded.SearchPalette);
    } catch {
      window.location.assign("/search");
    }
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isCommand = event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey;
      const isSlash = event.key === "/" && !event.metaKey && !event.ctrlKey && !isTyping(event);
      if (!isCommand && !isSlash) return;
      event.preventDefault();
      const field = isSlash && document.querySelector<HTMLInputElement>("search input[type=search]");
      if (field) field.select();
      else void open();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [open]);
  return (
    <>
      <Link
        href="/search"
        prefetch={false}
        aria-label="Search"
        aria-keyshortcuts="Control+K Meta+K"
        title="Search (Ctrl K or ⌘K)"
        onPointerEnter={loadPalette}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          void open();
        }}
        className={buttonClass({ variant: "quiet", size: "icon" }, "xl:w-auto xl:border-line xl:px-2.5")}
      >
        <Search className="size-4" aria-hidden="true" />
        <span aria-hidden="true" className="hidden gap-6 pl-1.5 font-normal text-small xl:flex">
          Search <kbd className="text-fine">Ctrl K</kbd>
        </span>
      </Link>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes a dialog by itself */}
      <dialog
        ref={dialog}
        aria-label="Search"
        onClose={() => setPalette(undefined)}
        // Only a click on the backdrop has the dialog as target.
        onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
        className="mx-auto mt-[10vh] w-[calc(100vw-2rem)] max-w-modal overflow-clip rounded-card border border-line bg-surface text-ink shadow-modal backdrop:bg-black/40"
      >
        {Palette && <Palette close={() => dialog.current?.close()} />}
      </dialog>
    </>
  );
}
