import { chartRanges } from "@keyhook/sdk";
import Link from "next/link";
import type { ReactNode } from "react";
import type { ChartBar, WebhookChart } from "#core/webhooks/activity/read-chart.ts";
import { classNames } from "../../class-names.ts";
import { Card } from "../../page-layout.tsx";
import { formatShare } from "../webhook-list.tsx";
import { type ActivityQuery, activityHref, spanLabels, spanWords } from "./activity-query.ts";
import { type ChartColumn, DeliveryChart } from "./delivery-chart.tsx";
import { formatMilliseconds } from "./format-milliseconds.ts";

type ChartCardProps = Readonly<{ chart: WebhookChart; path: string; query: ActivityQuery }>;

export function ChartCard({ chart, path, query }: ChartCardProps) {
  const { deliveredShare, medianMs, p99Ms, waitingToRetry, triggers } = chart;
  const isNearLimit = triggers.count >= triggers.limit * 0.8;
  return (
    <Card className="p-4 sm:p-5">
      <section aria-label={`Attempts in ${spanWords[query.span]}`}>
        <div className="flex flex-wrap items-start gap-x-8 gap-y-4">
          <dl className="flex flex-wrap gap-x-8 gap-y-4">
            <Figure label="delivered" isBad={deliveredShare !== null && deliveredShare < 0.9}>
              {deliveredShare === null ? "–" : formatShare(deliveredShare)}
            </Figure>
            <Figure label="median duration">{medianMs === null ? "–" : formatMilliseconds(medianMs)}</Figure>
            <Figure label="99th percentile">{p99Ms === null ? "–" : formatMilliseconds(p99Ms)}</Figure>
            <Figure label="waiting to retry" isBad={waitingToRetry > 0}>
              {waitingToRetry.toLocaleString("en")}
              {waitingToRetry >= 10_000 && "+"}
            </Figure>
            <Figure label="triggers in 24 h" isBad={isNearLimit} share={triggers.count / Math.max(1, triggers.limit)}>
              {triggers.count.toLocaleString("en")}
              <span className="font-normal text-muted text-small"> of {triggers.limit.toLocaleString("en")}</span>
            </Figure>
          </dl>
          <nav aria-label="Span of the chart" className="flex gap-1 sm:ml-auto">
            {chartRanges.map((span) => (
              <Link
                key={span}
                prefetch={false}
                scroll={false}
                href={activityHref(path, query, { span })}
                aria-current={span === query.span ? "true" : undefined}
                className={classNames(
                  "inline-flex min-h-7 items-center rounded-full px-3 font-medium text-fine",
                  span === query.span ? "bg-sunken text-ink" : "text-muted hover:text-ink",
                )}
              >
                {spanLabels[span]}
              </Link>
            ))}
          </nav>
        </div>
        <DeliveryChart
          columns={chart.bars.map((bar) => columnOf(bar, path, query))}
          span={spanWords[query.span]}
          axis={chart.range === "30d" ? "day" : "hour"}
        />
      </section>
    </Card>
  );
}

type FigureProps = Readonly<{
  label: string;
  isBad?: boolean;
  share?: number;
  children: ReactNode;
}>;

function Figure({ label, isBad, share, children }: FigureProps) {
  return (
    <div className="flex flex-col-reverse justify-end">
      <dt className="text-muted text-small">
        {label}
        {share !== undefined && (
          <span aria-hidden="true" className="mt-1 block h-1 overflow-hidden rounded-full bg-sunken">
            <span
              className={classNames("block h-full", isBad ? "bg-bad" : "bg-ink/60")}
              style={{ width: `${Math.min(100, 100 * share)}%` }}
            />
          </span>
        )}
      </dt>
      <dd className={classNames("font-semibold text-lead tabular-nums", isBad && "text-bad")}>{children}</dd>
    </div>
  );
}

function columnOf(bar: ChartBar, path: string, query: ActivityQuery): ChartColumn {
  const [since, until] = [bar.from.toISOString(), bar.to.toISOString()];
  const isChosen = query.since === since && query.until === until;
  return {
    at: bar.from,
    ...{ delivered: bar.delivered, failed: bar.failed, rateLimited: bar.rateLimited },
    ...{ median: bar.medianMs, p99: bar.p99Ms },
    href: activityHref(path, query, isChosen ? { since: "", until: "", before: "" } : { since, until, before: "" }),
    isChosen,
  };
}
