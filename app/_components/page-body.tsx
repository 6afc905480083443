import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type PageBodyProps = Readonly<{
  children: ReactNode;
  /** Narrow for pages that are read or filled in from top to bottom. */
  width?: "page" | "reading";
}>;

/** The `<main>` of a page inside `SiteFrame`, when it has no side navigation. */
export function PageBody({ children, width = "page" }: PageBodyProps) {
  return (
    <main id="main" className={classNames("mx-auto w-full px-4 py-7 sm:px-5", width === "page" ? "max-w-page" : "max-w-reading")}>
      {children}
    </main>
  );
}
