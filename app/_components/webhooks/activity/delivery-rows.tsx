import Link from "next/link";
import type { Delivery } from "#core/webhooks/activity/delivery.ts";
import type { AttemptOutcome, DeliveryState } from "#core/webhooks/vocabulary.ts";
import { Chip, type ChipProps } from "../../chip.tsx";
import { classNames } from "../../class-names.ts";
import { LocalTime } from "../../local-time.client.tsx";
import { RelativeTime } from "../../relative-time.tsx";
import { type ActivityQuery, activityHref } from "./activity-query.ts";
import { formatMilliseconds } from "./format-milliseconds.ts";
import { NextTry } from "./next-try.client.tsx";

type DeliveryRowsProps = Readonly<{
  deliveries: readonly Delivery[];
  path: string;
  query: ActivityQuery;
  isJob: boolean;
  isManager: boolean;
  now: Date;
}>;

export function DeliveryRows({ deliveries, path, query, isJob, isManager, now }: DeliveryRowsProps) {
  return (
    <ul aria-label="Deliveries" className="divide-y divide-line">
      {deliveries.map((delivery) => {
        const isOpen = delivery.id === query.delivery;
        return (
          <li key={delivery.id} className={classNames("delivery-row relative flex items-stretch", isOpen && "bg-sunken")}>
            {isManager && (
              // The link must keep a distance from the checkbox (WCAG 2.5.8).
              <label className="grid w-10 shrink-0 place-items-center">
                <input
                  type="checkbox"
                  name="delivery"
                  value={delivery.id}
                  aria-label={`Select ${kindOf(delivery)} of ${delivery.repo.name}, ${delivery.createdAt.toISOString()}`}
                  className="size-4"
                />
              </label>
            )}
            <Link
              prefetch={false}
              scroll={false}
              href={activityHref(path, query, { delivery: delivery.id })}
              data-delivery={delivery.id}
              aria-current={isOpen ? "true" : undefined}
              className="grid min-w-0 flex-1 grid-cols-(--columns-delivery-narrow) items-center gap-x-3 gap-y-1 px-3 py-2.5 text-small hover:bg-sunken sm:grid-cols-(--columns-delivery) sm:px-4"
            >
              <span>
                <OutcomeChip state={delivery.state} outcome={delivery.lastOutcome} status={delivery.lastStatus} isJob={isJob} />
              </span>
              <span className="order-last col-span-2 min-w-0 sm:order-none sm:col-span-1">
                <span className="flex items-center gap-2">
                  <span className="truncate font-medium">{kindOf(delivery)}</span>
                  {delivery.kind === "test" && <Chip>Test</Chip>}
                </span>
                <span className="block truncate text-muted">
                  {delivery.repo.type} {delivery.repo.name}
                </span>
              </span>
              <span className="flex flex-wrap justify-end gap-x-2 text-right text-muted sm:block">
                <RelativeTime at={delivery.createdAt} now={now} />
                <span className="block font-mono text-fine tabular-nums leading-5 sm:whitespace-nowrap">
                  <SecondLine {...{ delivery, isJob, now }} />
                </span>
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

function SecondLine({ delivery, isJob, now }: Readonly<{ delivery: Delivery; isJob: boolean; now: Date }>) {
  const { state, attempts, createdAt, nextAttemptAt, lastDurationMs } = delivery;
  if (state === "waiting" && attempts > 0 && nextAttemptAt) {
    return (
      <span className="font-sans text-bad">again {!isJob && <NextTry at={nextAttemptAt.getTime()} now={now.getTime()} />}</span>
    );
  }
  const isOnHold = state === "waiting" && !nextAttemptAt;
  return (
    <>
      <LocalTime at={createdAt} look="clock" /> ·{" "}
      {isOnHold
        ? "on hold"
        : lastDurationMs !== null
          ? formatMilliseconds(lastDurationMs)
          : state === "waiting"
            ? isJob
              ? "not finished"
              : "sending"
            : "not sent"}
    </>
  );
}

export function kindOf({ event }: Delivery): string {
  return `${event.scope}.${event.action}`;
}

type OutcomeChipProps = Readonly<{
  /** The delivery's state. Absent for a single attempt. */
  state?: DeliveryState;
  outcome: AttemptOutcome | null;
  status: number | null;
  isJob?: boolean;
}>;

export function OutcomeChip(props: OutcomeChipProps) {
  const { tone, text } = wordFor(props);
  return <Chip tone={tone}>{text}</Chip>;
}

function wordFor({ state, outcome, status, isJob }: OutcomeChipProps): { tone: ChipProps["tone"]; text: string } {
  if (state === "rate_limited") return { tone: "warn", text: "over limit" };
  if (state === "withheld" || outcome === "withheld") return { tone: "warn", text: "withheld" };
  if (outcome === null) return { tone: "neutral", text: "waiting" };
  if (outcome === "delivered") return { tone: "good", text: status === null ? (isJob ? "done" : "delivered") : String(status) };
  if (outcome === "rejected")
    return { tone: "bad", text: status === null ? (isJob ? "job failed" : "rejected") : String(status) };
  if (outcome === "blocked") return { tone: "bad", text: "blocked" };
  return { tone: "bad", text: isJob ? "not run" : "no response" };
}
