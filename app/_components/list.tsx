import Link from "next/link";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { buttonClass } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { EmptyState } from "./empty-state.tsx";
import { Card, PageColumn, type PageColumnProps, SectionCard, type SectionCardProps } from "./page-layout.tsx";

export { EmptyState };

type ListProps = Readonly<{
  label?: string;
  children: ReactNode;
  className?: string;
}>;

export function List({ label, children, className }: ListProps) {
  return (
    <ul aria-label={label} data-rows="" className={classNames("divide-y divide-line", className)}>
      {children}
    </ul>
  );
}

type ListRowProps = Readonly<{
  leading?: ReactNode;
  title: ReactNode;
  meta?: ReactNode;
  trailing?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}>;

export function ListRow({ leading, title, meta, trailing, actions, children }: ListRowProps) {
  return (
    <li className="px-4 py-3.5 sm:px-5">
      {/* On narrow screens a confirmation has the width of the row, not of the button. */}
      <div className="relative flex items-center gap-3">
        {leading}
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-2">
          <div className={classNames("min-w-0 flex-1 sm:basis-72", actions ? "basis-56" : "basis-32")}>
            <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 font-medium">{title}</div>
            {meta && <div className="break-words text-muted text-small">{meta}</div>}
          </div>
          {(trailing || actions) && (
            <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
              {trailing && <div className="flex flex-wrap items-center gap-2">{trailing}</div>}
              {actions && <div className="header-actions max-sm:static">{actions}</div>}
            </div>
          )}
        </div>
      </div>
      {children}
    </li>
  );
}

type ListPageProps<Item> = Omit<PageColumnProps, "children"> &
  PagedListProps<Item> &
  Readonly<{
    children?: ReactNode;
  }>;

export function ListPage<Item>({ children, label, things, list, hrefOf, row, empty, ...header }: ListPageProps<Item>) {
  return (
    <PageColumn {...header}>
      {children}
      <PagedList {...{ label, things, list, hrefOf, row, empty }} />
    </PageColumn>
  );
}

type PagedListProps<Item> = Readonly<{
  label: string;
  things?: string | undefined;
  list: (Readonly<{ items: readonly Item[] }> & Pick<PaginationProps, "page" | "pageSize" | "total">) | readonly Item[];
  hrefOf?: PaginationProps["hrefOf"];
  row: (item: Item) => ReactNode;
  empty: ReactNode;
  section?: Pick<SectionCardProps, "title" | "description" | "action">;
  top?: ReactNode;
}>;

export function PagedList<Item>({
  label,
  things = label,
  list,
  hrefOf = () => "",
  row,
  empty,
  section,
  top,
}: PagedListProps<Item>) {
  const { items, page, pageSize, total } = "items" in list ? list : wholeOf(list);
  const pages = Math.ceil(total / pageSize);
  if (items.length === 0 && total > 0 && page > pages) redirect(hrefOf(pages));
  const content = (
    <>
      {top}
      {items.length === 0 ? empty : <List label={label}>{items.map(row)}</List>}
    </>
  );
  return (
    <div>
      {section ? (
        <SectionCard isFlush {...section}>
          {content}
        </SectionCard>
      ) : (
        <Card>{content}</Card>
      )}
      <Pagination label={things} {...{ page, pageSize, total, hrefOf }} />
    </div>
  );
}

const wholeOf = <Item,>(items: readonly Item[]) => ({ items, page: 1, pageSize: items.length || 1, total: items.length });

type PaginationProps = Readonly<{
  label: string;
  /** Counted from 1. */
  page: number;
  pageSize: number;
  total: number;
  /** Set if the number of items on a page depends on their length. The text then counts only pages. */
  isByLength?: boolean;
  /** The returned URL must contain the list's filter. */
  hrefOf: (page: number) => string;
}>;

export function Pagination({ label, page, pageSize, total, isByLength = false, hrefOf }: PaginationProps) {
  const pages = Math.ceil(total / pageSize);
  if (pages <= 1) return null;
  const first = (page - 1) * pageSize + 1;
  const number = new Intl.NumberFormat("en");
  return (
    <nav aria-label={`Pages of ${label}`} className="mt-3 flex items-center justify-between gap-3 text-muted text-small">
      <span>
        {isByLength
          ? `Page ${number.format(page)} of ${number.format(pages)}`
          : `${number.format(first)}–${number.format(Math.min(page * pageSize, total))} of ${number.format(total)}`}
      </span>
      <span className="flex gap-2">
        {page > 1 && <PageStep href={hrefOf(page - 1)}>Previous</PageStep>}
        {page < pages && <PageStep href={hrefOf(page + 1)}>Next</PageStep>}
      </span>
    </nav>
  );
}

export function PageStep({ href, children }: Readonly<{ href: string; children: string }>) {
  return (
    <Link prefetch={false} href={href} className={buttonClass({ size: "small" })}>
      {children}
    </Link>
  );
}
