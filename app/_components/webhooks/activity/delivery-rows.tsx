import Link from "next/link";
import type { Delivery } from "#core/webhooks/activity/delivery.ts";
import { Chip } from "../../chip.tsx";
import { classNames } from "../../class-names.ts";
import { RelativeTime } from "../../relative-time.tsx";
import { type ActivityQuery, activityHref } from "./activity-query.ts";
import { NextTry } from "./next-try.client.tsx";
import { OutcomeChip } from "./outcome-chip.tsx";
import { spokenMilliseconds } from "./spoken-milliseconds.ts";

export type DeliveryRowsProps = Readonly<{
  deliveries: readonly Delivery[];
  path: string;
  query: ActivityQuery;
  isJob: boolean;
  /** Rows can be chosen, to be replayed together. */
  isManager: boolean;
  now: Date;
}>;

/** Deliveries, the newest first. Each opens beside the list, at an address of its own. */
export function DeliveryRows({ deliveries, path, query, isJob, isManager, now }: DeliveryRowsProps) {
  return (
    <ul aria-label="Deliveries" className="divide-y divide-line">
      {deliveries.map((delivery) => {
        const isOpen = delivery.id === query.delivery;
        return (
          <li key={delivery.id} className={classNames("delivery-row relative flex items-center", isOpen && "bg-sunken")}>
            {isManager && (
              <span className="relative z-10 self-stretch">
                <input
                  type="checkbox"
                  name="delivery"
                  value={delivery.id}
                  aria-label={`Choose ${kindOf(delivery)} of ${delivery.repo.name}, ${delivery.createdAt.toISOString()}`}
                  className="mt-4 ml-3 block size-4 sm:mt-6 sm:ml-4"
                />
              </span>
            )}
            <Link
              prefetch={false}
              scroll={false}
              href={`${activityHref(path, query, { delivery: delivery.id })}#delivery`}
              aria-current={isOpen ? "true" : undefined}
              className="grid min-w-0 flex-1 grid-cols-(--columns-delivery-narrow) items-center gap-x-3 gap-y-1 px-3 py-2.5 text-small hover:bg-sunken sm:grid-cols-(--columns-delivery) sm:px-4"
            >
              <span>
                <OutcomeChip state={delivery.state} outcome={delivery.lastOutcome} status={delivery.lastStatus} isJob={isJob} />
              </span>
              <span className="order-last col-span-2 min-w-0 sm:order-none sm:col-span-1">
                <span className="flex items-center gap-2">
                  <span className="truncate font-medium">{kindOf(delivery)}</span>
                  {delivery.kind === "test" && <Chip>test</Chip>}
                </span>
                <span className="block truncate text-muted">
                  {delivery.repo.type} {delivery.repo.name}
                </span>
              </span>
              <span className="flex flex-wrap justify-end gap-x-2 text-muted sm:block sm:text-right">
                <RelativeTime at={delivery.createdAt} now={now} />
                <span className="block whitespace-nowrap font-mono text-fine tabular-nums leading-5">
                  <SecondLine delivery={delivery} now={now} />
                </span>
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

function SecondLine({ delivery, now }: Readonly<{ delivery: Delivery; now: Date }>) {
  const { state, attempts, nextAttemptAt, lastDurationMs } = delivery;
  if (state === "waiting" && attempts > 0 && nextAttemptAt) {
    return (
      <span className="text-bad">
        again <NextTry at={nextAttemptAt.getTime()} now={now.getTime()} />
      </span>
    );
  }
  if (state === "waiting" && !nextAttemptAt) return "on hold";
  if (lastDurationMs !== null) return spokenMilliseconds(lastDurationMs);
  return state === "waiting" ? "sending" : "not sent";
}

/** `repo.content · update` */
export function kindOf({ event }: Delivery): string {
  return `${event.scope} · ${event.action}`;
}
