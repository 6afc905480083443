import type { Overview } from "#core/operations/read-overview.ts";
import { type Figure, Figures } from "../_components/figures.tsx";
import { RelativeTime } from "../_components/relative-time.tsx";

const HOUR_MS = 3600_000;
const number = new Intl.NumberFormat("en");

/** The queue of webhooks at a glance: what waits, what was tried within the hour, what runs. */
export function WebhookWork({ overview: { work, attempts } }: Readonly<{ overview: Overview }>) {
  return <Figures figures={[...waiting(work), ...tried(attempts), ...running(work)]} />;
}

function waiting({ events, deliveries }: Overview["work"]): Figure[] {
  const { due, oldestDueAt, claimed, later, held } = deliveries;
  return [
    {
      label: "Events to fan out",
      value: number.format(events.waiting),
      note: events.oldestAt ? (
        <>
          the oldest <RelativeTime at={events.oldestAt} />
        </>
      ) : (
        "each has its deliveries"
      ),
    },
    {
      label: "Deliveries due",
      value: number.format(due),
      note: oldestDueAt ? (
        <>
          the oldest <RelativeTime at={oldestDueAt} />
        </>
      ) : (
        "nothing is late"
      ),
    },
    { label: "Under way", value: number.format(claimed), note: "sent, not answered yet" },
    {
      label: "To be tried again",
      value: number.format(later),
      note: held > 0 ? `and ${number.format(held)} held by disabled webhooks` : "after an attempt that failed",
    },
  ];
}

function tried({ since, byOutcome }: Overview["attempts"]): Figure[] {
  // Of a very busy hour only its end is counted.
  const isHour = Date.now() - since.getTime() > HOUR_MS - 60_000;
  const { delivered = 0, rejected = 0, unreachable = 0, blocked = 0, withheld = 0 } = byOutcome;
  const kinds = [
    [rejected, "refused by the receiver"],
    [unreachable, "without an answer"],
    [blocked, "to addresses that are not allowed"],
    [withheld, "withheld"],
  ] as const;
  const failed = kinds.reduce((sum, [count]) => sum + count, 0);
  const reasons = kinds.filter(([count]) => count > 0).map(([count, what]) => `${number.format(count)} ${what}`);
  return [
    {
      label: "Delivered",
      value: number.format(delivered),
      note: isHour ? (
        "in the last hour"
      ) : (
        <>
          since <RelativeTime at={since} />
        </>
      ),
    },
    { label: "Attempts that failed", value: number.format(failed), note: reasons.join(", ") || "in the same time" },
  ];
}

function running({ runs, replays }: Overview["work"]): Figure[] {
  return [
    { label: "Jobs running", value: number.format(runs.running), note: `${number.format(runs.waiting)} waiting for a place` },
    { label: "Replays", value: number.format(replays), note: "of many deliveries, under way" },
  ];
}
