import Link from "next/link";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { buttonClass } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { EmptyState } from "./empty-state.tsx";
import { Card, PageColumn, type PageColumnProps, SectionCard, type SectionCardProps } from "./page-layout.tsx";

export { EmptyState };

type ListProps = Readonly<{
  /** Names the list if no heading does. */
  label?: string;
  children: ReactNode;
  className?: string;
}>;

/** Rows with hairlines between them, inside a `Card` or a flush `SectionCard`. The keys `j` and `k` move through the list. */
export function List({ label, children, className }: ListProps) {
  return (
    <ul aria-label={label} data-rows="" className={classNames("divide-y divide-line", className)}>
      {children}
    </ul>
  );
}

type ListRowProps = Readonly<{
  /** An avatar or icon. */
  leading?: ReactNode;
  title: ReactNode;
  /** The second line. */
  meta?: ReactNode;
  /** Numbers, chips and buttons at the end; they move below on narrow screens. */
  trailing?: ReactNode;
  /** Buttons and `ConfirmDestructive` at the end. */
  actions?: ReactNode;
  /** Further content of the row, below its lines. */
  children?: ReactNode;
}>;

/** Two lines about one item. */
export function ListRow({ leading, title, meta, trailing, actions, children }: ListRowProps) {
  return (
    <li className="px-4 py-3.5 sm:px-5">
      {/* On narrow screens a confirmation has the width of the row, not of its button. */}
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
    /** Content above the list: a search, or a step that comes first. */
    children?: ReactNode;
  }>;

/** A page that is one list: a notice, a search, and the list itself. */
export function ListPage<Item>({ children, label, things, list, hrefOf, row, empty, ...header }: ListPageProps<Item>) {
  return (
    <PageColumn {...header}>
      {children}
      <PagedList {...{ label, things, list, hrefOf, row, empty }} />
    </PageColumn>
  );
}

type PagedListProps<Item> = Readonly<{
  /** Names the list. */
  label: string;
  /** Names the pagination landmark, if the label does not fit. */
  things?: string | undefined;
  /** One page of the list, or all of it. */
  list: (Readonly<{ items: readonly Item[] }> & Pick<PaginationProps, "page" | "pageSize" | "total">) | readonly Item[];
  /** The URL of a page of the list. */
  hrefOf?: PaginationProps["hrefOf"];
  /** A `ListRow` with its key. */
  row: (item: Item) => ReactNode;
  /** Replaces an empty list: an `EmptyState`. */
  empty: ReactNode;
  /** Renders the list as a titled section instead of a plain card. */
  section?: Pick<SectionCardProps, "title" | "description" | "action">;
  /** At the top of the card: a search. */
  top?: ReactNode;
}>;

/** One page of a list, on a card, with links to the other pages. */
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
  // Redirects to the last page if the requested one is after it, for example because items were deleted.
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
  /** What is listed, for the landmark's name: "OAuth apps". */
  label: string;
  /** From 1. */
  page: number;
  pageSize: number;
  total: number;
  /** Whether the number of items on a page depends on their length. Then the text counts only pages. */
  isByLength?: boolean;
  /** The URL of a page; it includes the filter. */
  hrefOf: (page: number) => string;
}>;

/** Links to the previous and the next page, with the current position. Renders nothing if everything fits on one page. */
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

/** A link to the previous or next page. */
export function PageStep({ href, children }: Readonly<{ href: string; children: string }>) {
  return (
    <Link prefetch={false} href={href} className={buttonClass({ size: "small" })}>
      {children}
    </Link>
  );
}
