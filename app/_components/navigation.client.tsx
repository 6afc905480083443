"use client";

import { ChevronDown } from "lucide-react";
import Link, { useLinkStatus } from "next/link";
import { usePathname } from "next/navigation";
import { type ReactNode, useEffect, useRef } from "react";
import { classNames } from "./class-names.ts";

type LinkTarget = Readonly<{
  href: string;
  /** The paths at which the link is marked as current, with all paths below. Default: `href`. */
  section?: string | readonly string[];
  /** Set if only the path itself counts, because pages below `href` have links of their own. */
  isExact?: boolean;
}>;

type NavLinkProps = LinkTarget & Readonly<{ className?: string; currentClassName?: string; children: ReactNode }>;

const isCurrentAt = (path: string, { href, section = href, isExact = false }: LinkTarget): boolean =>
  [section].flat().some((part) => path === part || (!isExact && path.startsWith(`${part}/`)));

export function NavLink({ className, currentClassName, children, ...target }: NavLinkProps) {
  const path = usePathname() ?? "";
  const { href } = target;
  const isCurrent = isCurrentAt(path, target);
  return (
    <Link
      href={href}
      prefetch={false}
      aria-current={isCurrent ? (path === href ? "page" : "true") : undefined}
      className={classNames(className, isCurrent && currentClassName)}
    >
      <Pending>{children}</Pending>
    </Link>
  );
}

function Pending({ children }: Readonly<{ children: ReactNode }>) {
  const { pending } = useLinkStatus();
  return <span className={pending ? "motion-safe:animate-pulse" : undefined}>{children}</span>;
}

type NavMenuProps = Readonly<{
  label: string;
  pages: ReadonlyArray<LinkTarget & Readonly<{ label: string }>>;
  children: ReactNode;
}>;

/** Each navigation closes the menu, because React creates an element again when its `key` changes. */
export function NavMenu({ label, pages, children }: NavMenuProps) {
  const path = usePathname() ?? "";
  const current = pages.find((page) => isCurrentAt(path, page));
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

/** Closes a popover of the layout when the page changes, because the layout itself stays. */
export function HideOnNavigation({ popoverId }: Readonly<{ popoverId: string }>) {
  const path = usePathname();
  const shown = useRef(path);
  useEffect(() => {
    // Nothing is closed on the first page, because the popover may have been opened before the scripts ran.
    if (shown.current === path) return;
    shown.current = path;
    document.getElementById(popoverId)?.hidePopover();
  }, [path, popoverId]);
  return null;
}
