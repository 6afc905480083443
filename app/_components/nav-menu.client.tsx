"use client";

import { ChevronDown } from "lucide-react";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";

export type NavMenuProps = Readonly<{
  label: string;
  pages: ReadonlyArray<Readonly<{ href: string; label: string; isExact?: boolean }>>;
  children: ReactNode;
}>;

/** The navigation folded away under the name of the page one is on. The path as key closes it after each step. */
export function NavMenu({ label, pages, children }: NavMenuProps) {
  const path = usePathname() ?? "";
  const current = pages.find(({ href, isExact }) => path === href || (!isExact && path.startsWith(`${href}/`)));
  return (
    <details key={path} className="group rounded-control border border-line bg-surface">
      <summary className="flex h-10 items-center justify-between gap-2 px-3 text-small">
        <span className="truncate">
          <span className="text-muted">{label}</span>
          {current && <span className="font-medium"> / {current.label}</span>}
        </span>
        <ChevronDown className="size-4 shrink-0 text-muted group-open:rotate-180" aria-hidden="true" />
      </summary>
      <div className="border-line border-t p-2">{children}</div>
    </details>
  );
}
