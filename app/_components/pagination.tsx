import Link from "next/link";
import { buttonClass } from "./button.tsx";

export type PaginationProps = Readonly<{
  /** What is listed, for the landmark's name: "OAuth apps". */
  label: string;
  /** From 1. */
  page: number;
  pageSize: number;
  total: number;
  /** What is listed fills pages by its length: only pages are counted. */
  isByLength?: boolean;
  /** The address of a page; it carries the filter along. */
  hrefOf: (page: number) => string;
}>;

/** Newer and older, with where one is. Draws nothing while everything fits on one page. */
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
        {page > 1 && <Step href={hrefOf(page - 1)}>Previous</Step>}
        {page < pages && <Step href={hrefOf(page + 1)}>Next</Step>}
      </span>
    </nav>
  );
}

function Step({ href, children }: Readonly<{ href: string; children: string }>) {
  return (
    <Link prefetch={false} href={href} className={buttonClass({ size: "small" })}>
      {children}
    </Link>
  );
}
