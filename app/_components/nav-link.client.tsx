"use client";

import Link, { useLinkStatus } from "next/link";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type NavLinkProps = Readonly<{
  href: string;
  /** The parts of the site the link stands for, when they are more than `href` and what lies below it. */
  section?: string | readonly string[];
  /** The link stands for `href` alone: what lies below it has links of its own. */
  isExact?: boolean;
  className?: string;
  currentClassName: string;
  children: ReactNode;
}>;

/** A link that knows whether one is there, and that says when its page is on the way. */
export function NavLink({ href, section = href, isExact = false, className, currentClassName, children }: NavLinkProps) {
  const path = usePathname() ?? "";
  const isCurrent = [section].flat().some((part) => path === part || (!isExact && path.startsWith(`${part}/`)));
  return (
    <Link
      href={href}
      prefetch={false}
      aria-current={path === href ? "page" : isCurrent ? "true" : undefined}
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
