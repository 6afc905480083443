import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type ListProps = Readonly<{
  /** Names the list where no heading does. */
  label?: string;
  children: ReactNode;
  className?: string;
}>;

/** Rows with hairlines between them; stands in a `Card` or a flush `SectionCard`. */
export function List({ label, children, className }: ListProps) {
  return (
    <ul aria-label={label} className={classNames("divide-y divide-line", className)}>
      {children}
    </ul>
  );
}

export type ListRowProps = Readonly<{
  /** An avatar or icon. */
  leading?: ReactNode;
  title: ReactNode;
  /** The second line. */
  meta?: ReactNode;
  /** Numbers, chips and buttons at the end; they move below on narrow screens. */
  trailing?: ReactNode;
  /** More of the row, below its lines. */
  children?: ReactNode;
}>;

/** Two lines about one thing. */
export function ListRow({ leading, title, meta, trailing, children }: ListRowProps) {
  return (
    <li className="px-4 py-3.5 sm:px-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        {leading}
        <div className="min-w-0 flex-1 basis-36">
          <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 font-medium">{title}</div>
          {meta && <div className="break-words text-muted text-small">{meta}</div>}
        </div>
        {trailing && <div className="flex flex-wrap items-center gap-2">{trailing}</div>}
      </div>
      {children}
    </li>
  );
}
