import Link from "next/link";
import { classNames } from "../../class-names.ts";
import { LocalTime } from "../../local-time.client.tsx";
import type { TimeLook } from "../../time-words.ts";
import { percent } from "../webhook-list.tsx";
import { formatMilliseconds } from "./format-milliseconds.ts";

export type ChartColumn = Readonly<{
  at: Date;
  delivered: number;
  failed: number;
  rateLimited: number;
  /** In milliseconds. Null if there was no response. */
  median: number | null;
  p99: number | null;
  href: string;
  isChosen: boolean;
}>;

type DeliveryChartProps = Readonly<{
  columns: readonly ChartColumn[];
  span: string;
  axis: TimeLook;
}>;

const outcomes = [
  { of: "rateLimited", label: "over the limit", className: "bg-warn" },
  { of: "failed", label: "failed", className: "bg-bad" },
  { of: "delivered", label: "delivered", className: "bg-ink/75" },
] as const;

/** The bars below the columns range from the median response time to the 99th percentile. */
export function DeliveryChart({ columns, span, axis }: DeliveryChartProps) {
  const highest = Math.max(1, ...columns.map((column) => totalOf(column)));
  const slowest = Math.max(10, ...columns.map(({ p99 }) => p99 ?? 0));
  const hasResponses = columns.some(({ p99 }) => p99 !== null);
  return (
    <figure className="mt-4">
      <figcaption className="sr-only">
        <ChartSummary columns={columns} span={span} />
      </figcaption>
      <div aria-hidden="true" className="relative flex gap-0.5 pl-8 sm:gap-1.5">
        <span className="pointer-events-none absolute inset-x-0 top-1 h-23 border-line border-t border-dashed text-fine text-muted tabular-nums">
          <span className="absolute -top-2.5 left-0 bg-surface pr-1">
            {highest.toLocaleString("en", { notation: "compact" })}
          </span>
          <span className="absolute -bottom-2.5 left-0 bg-surface pr-1">0</span>
        </span>
        {columns.map((column, index) => (
          <Column
            key={column.at.getTime()}
            column={column}
            highest={highest}
            slowest={slowest}
            hasResponses={hasResponses}
            isLate={index >= columns.length / 2}
          />
        ))}
      </div>
      <div aria-hidden="true" className="mt-1.5 flex pl-8 text-fine text-muted">
        {[0, 1, 2, 3].map((quarter) => (
          <span key={quarter} className={classNames("flex-1", quarter % 2 === 1 && "hidden sm:inline")}>
            {timeOf(columns[Math.round((quarter * columns.length) / 4)], axis)}
          </span>
        ))}
        <span>now</span>
      </div>
      <div className="mt-3 flex flex-wrap items-center gap-x-5 gap-y-1.5 text-fine text-muted">
        {outcomes.toReversed().map(({ of, label, className }) => (
          <span key={of} className="inline-flex items-center gap-1.5">
            <span aria-hidden="true" className={classNames("size-2.5 rounded-xs", className)} />
            {label}
          </span>
        ))}
        {hasResponses && (
          <span className="inline-flex items-center gap-1.5">
            <span aria-hidden="true" className="h-3 w-1.5 rounded-full bg-brand/45" />
            duration, median to 99th percentile, at most {formatMilliseconds(slowest)}
          </span>
        )}
        <ChartTable columns={columns} />
      </div>
    </figure>
  );
}

type ColumnProps = Readonly<{
  column: ChartColumn;
  highest: number;
  slowest: number;
  hasResponses: boolean;
  isLate: boolean;
}>;

function Column({ column, highest, slowest, hasResponses, isLate }: ColumnProps) {
  return (
    <Link
      prefetch={false}
      scroll={false}
      href={column.href}
      tabIndex={-1}
      className={classNames(
        "group relative min-w-0 flex-1 rounded-sm hover:bg-sunken",
        column.isChosen && "bg-sunken outline outline-edge",
      )}
    >
      <span className="flex h-24 flex-col justify-end gap-px">
        {outcomes.map(
          ({ of, className }) =>
            column[of] > 0 && (
              <span
                key={of}
                className={classNames("min-h-0.5 shrink-0 rounded-xs", className)}
                style={{ height: percent((0.96 * column[of]) / highest) }}
              />
            ),
        )}
        <span className="h-px shrink-0 bg-line" />
      </span>
      {hasResponses && <ResponseTime column={column} slowest={slowest} />}
      <span
        className={classNames(
          "pointer-events-none absolute bottom-full z-10 mb-1 hidden w-max rounded-control border border-line bg-surface px-3 py-2 text-fine shadow-menu group-hover:block",
          isLate ? "right-0" : "left-0",
        )}
      >
        <b className="block">
          <LocalTime at={column.at} look="minute" />
        </b>
        {outcomes.toReversed().map(({ of, label }) => (
          <span key={of} className="block text-muted tabular-nums">
            {column[of].toLocaleString("en")} {label}
          </span>
        ))}
        {column.median !== null && (
          <span className="block text-muted tabular-nums">
            median {formatMilliseconds(column.median)}, p99 {formatMilliseconds(column.p99 ?? column.median)}
          </span>
        )}
      </span>
    </Link>
  );
}

/** The scale is logarithmic. On a linear scale, one slow hour would flatten the line of a fast target. */
function ResponseTime({ column: { median, p99 }, slowest }: Pick<ColumnProps, "column" | "slowest">) {
  const height = (ms: number) => Math.log(Math.max(1.5, ms)) / Math.log(slowest);
  return (
    <span className="relative mt-1 block h-8">
      {median !== null && p99 !== null && (
        <>
          <span
            className="absolute left-1/2 w-1.5 -translate-x-1/2 rounded-full bg-brand/45"
            style={{ bottom: percent(0.9 * height(median)), height: percent(0.9 * (height(p99) - height(median)) + 0.08) }}
          />
          <span
            className="absolute left-1/2 h-0.5 w-3 max-w-full -translate-x-1/2 bg-brand"
            style={{ bottom: percent(0.9 * height(median)) }}
          />
        </>
      )}
    </span>
  );
}

function ChartTable({ columns }: Pick<DeliveryChartProps, "columns">) {
  return (
    <details className="ml-auto open:ml-0 open:w-full">
      <summary className="link w-fit">As a table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1) */}
      <section aria-label="Attempts as a table" tabIndex={0} className="mt-3 max-h-80 overflow-auto contain-inline-size">
        <table className="w-full text-small tabular-nums">
          <thead>
            <tr className="text-left">
              {["Time", "Delivered", "Failed", "Over limit", "Median", "99th percentile"].map((name) => (
                <th
                  key={name}
                  scope="col"
                  className="whitespace-nowrap py-1 pl-3 text-right font-normal first:pl-0 first:text-left"
                >
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {columns.toReversed().map((column) => (
              <tr key={column.at.getTime()}>
                <th scope="row" className="whitespace-nowrap py-1 text-left font-normal">
                  <Link prefetch={false} scroll={false} href={column.href} className="link text-ink">
                    <LocalTime at={column.at} look="minute" />
                  </Link>
                </th>
                {[column.delivered, column.failed, column.rateLimited].map((count, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns of a table
                  <td key={index} className="py-1 pl-3 text-right">
                    {count.toLocaleString("en")}
                  </td>
                ))}
                {[column.median, column.p99].map((ms, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns of a table
                  <td key={index} className="whitespace-nowrap py-1 pl-3 text-right">
                    {ms === null ? "–" : formatMilliseconds(ms)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}

function ChartSummary({ columns, span }: Pick<DeliveryChartProps, "columns" | "span">) {
  const of = (kind: "delivered" | "failed" | "rateLimited") =>
    columns.reduce((sum, column) => sum + column[kind], 0).toLocaleString("en");
  const worst = columns.reduce<ChartColumn | undefined>(
    (found, column) => (column.failed > (found?.failed ?? 0) ? column : found),
    undefined,
  );
  return (
    <>
      In {span}: {of("delivered")} delivered, {of("failed")} failed, {of("rateLimited")} over the limit.
      {worst && (
        <>
          {" "}
          Most failures at <LocalTime at={worst.at} look="minute" />: {worst.failed.toLocaleString("en")}.
        </>
      )}
    </>
  );
}

const timeOf = (column: ChartColumn | undefined, look: TimeLook) => column && <LocalTime at={column.at} look={look} />;

const totalOf = ({ delivered, failed, rateLimited }: ChartColumn): number => delivered + failed + rateLimited;
