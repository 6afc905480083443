import { eventDomains } from "@keyhook/sdk";
import { Webhook as WebhookIcon } from "lucide-react";
import Link from "next/link";
import type { Sparkline as Recent } from "#core/webhooks/activity/sparklines.ts";
import type { Webhook } from "#core/webhooks/manage/webhook.ts";
import type { DisabledReason } from "#core/webhooks/vocabulary.ts";
import { ButtonLink } from "../button.tsx";
import { Chip } from "../chip.tsx";
import { classNames } from "../class-names.ts";
import { UrlText } from "../copyable.tsx";
import { EmptyState, List } from "../list.tsx";
import { LocalTime } from "../local-time.client.tsx";
import { MadeWith } from "../made-with.tsx";
import { Card } from "../page-layout.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { OutcomeChip } from "./activity/delivery-rows.tsx";
import { ItemName } from "./watched-field.client.tsx";

type WebhookListProps = Readonly<{
  webhooks: readonly Webhook[];
  recent: ReadonlyMap<string, Recent>;
  path: string;
}>;

const NAMED_MAX = 3;

export function WebhookList({ webhooks, recent, path }: WebhookListProps) {
  return (
    <Card>
      {webhooks.length === 0 ? (
        <EmptyState
          Icon={WebhookIcon}
          title="No webhooks yet"
          action={
            <ButtonLink variant="primary" href={`${path}/new`}>
              New webhook
            </ButtonLink>
          }
        >
          A webhook notifies your server, or runs a job, when something changes in the repositories that you choose: a push, a new
          discussion, a comment.{" "}
          <Link prefetch={false} href="/docs/webhooks" className="link">
            Read the guide
          </Link>
        </EmptyState>
      ) : (
        <List label="Webhooks">
          {webhooks.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} recent={recent.get(webhook.id)} path={path} />
          ))}
        </List>
      )}
    </Card>
  );
}

function WebhookRow({ webhook, recent, path }: Readonly<{ webhook: Webhook; recent: Recent | undefined; path: string }>) {
  const { id, name, watched, disabledReason, failingSince } = webhook;
  const last = recent?.last;
  const more = watched.length - NAMED_MAX;
  return (
    <li className="relative flex flex-wrap items-center gap-x-6 gap-y-3 px-4 py-4 hover:bg-sunken sm:px-5">
      <div className="min-w-0 flex-1 basis-72">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <Link
            prefetch={false}
            href={`${path}/${id}`}
            className={classNames(
              "line-clamp-2 min-w-0 font-medium after:absolute after:inset-0 hover:underline",
              name ? "break-words" : "break-all font-mono text-small",
            )}
          >
            {webhookName(webhook)}
          </Link>
          <WebhookStatus disabledReason={disabledReason} />
        </div>
        {name && (
          <p className="wrap-anywhere font-mono text-fine text-muted">
            <UrlText>{targetName(webhook)}</UrlText>
          </p>
        )}
        <p className="mt-1 flex flex-wrap gap-x-3 gap-y-0.5 text-muted text-small">
          <span className="sr-only">Watches</span>
          {watched.slice(0, NAMED_MAX).map((item) => (
            <ItemName key={item.id} item={itemOf(item)} />
          ))}
          {more > 0 && <span>and {more} more</span>}
        </p>
        {webhook.madeWith && (
          <p className="mt-1 text-muted text-small">
            <MadeWith madeWith={webhook.madeWith} />
          </p>
        )}
        <p className="mt-1 flex items-start gap-x-2 text-muted text-small">
          {last && (
            <span className="shrink-0">
              <OutcomeChip state={last.state} outcome={last.outcome} status={last.status} isJob={webhook.job !== null} />
            </span>
          )}
          <span className="min-w-0 first-letter:uppercase">
            {last ? (
              <>
                last delivery <RelativeTime at={last.createdAt} />
              </>
            ) : (
              "no deliveries yet"
            )}{" "}
            · {describeEvents(webhook)}
            {failingSince && disabledReason === null && (
              <>
                {" · "}
                <span className="text-bad">
                  failing since <LocalTime at={failingSince} look="minute" />
                </span>
              </>
            )}
          </span>
        </p>
      </div>
      <Sparkline points={recent?.bars ?? []} share={recent?.deliveredShare ?? null} span="in 24 h" />
    </li>
  );
}

/** `type:name`, or `type:id` if the item was deleted or is no longer readable. The form accepts both. */
export function itemOf({ type, name, id }: Webhook["watched"][number]): string {
  return `${type}:${name ?? id}`;
}

export const unnamedItem = ({ type }: Webhook["watched"][number]): string =>
  `${type === "org" ? "an organization" : `a ${type.replace("space", "Space")}`} that was deleted or that you cannot read`;

type SparklineProps = Readonly<{
  /** In order of time. The last point is now. */
  points: ReadonlyArray<Readonly<{ delivered: number; failed: number }>>;
  /** The share of successful deliveries, from 0 to 1. Null if there are no deliveries. */
  share: number | null;
  span: string;
}>;

function Sparkline({ points, share, span }: SparklineProps) {
  const highest = Math.max(1, ...points.map((point) => point.delivered + point.failed));
  return (
    <span className="flex items-end gap-3">
      {share !== null && (
        <span aria-hidden="true" className="flex h-7 w-28 items-end gap-px border-line border-b">
          {points.map((point, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a point is identified only by its position
            <span key={index} className="flex h-full min-w-0 flex-1 flex-col justify-end">
              {point.failed > 0 && <span className="min-h-0.5 bg-bad" style={{ height: percent(point.failed / highest) }} />}
              {point.delivered > 0 && (
                <span className="min-h-0.5 bg-ink/60" style={{ height: percent(point.delivered / highest) }} />
              )}
            </span>
          ))}
        </span>
      )}
      <span className="text-small sm:w-28 sm:text-right">
        {share === null ? (
          <span className="text-muted">none {span}</span>
        ) : (
          <>
            <b className={share < 0.9 ? "block text-bad tabular-nums" : "block tabular-nums"}>{formatShare(share)}</b>
            <span className="block text-fine text-muted">delivered {span}</span>
          </>
        )}
      </span>
    </span>
  );
}

/** The result is never 100% if a delivery failed, nor 0% if one succeeded. */
export function formatShare(share: number): string {
  if (share === 0 || share === 1) return `${share * 100}%`;
  return `${Math.min(99.9, Math.max(0.1, share * 100)).toFixed(1)}%`;
}

export const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;

type WebhookStatusProps = Readonly<{
  disabledReason: DisabledReason | null;
}>;

const words = {
  owner: { tone: "neutral", text: "Disabled" },
  failing: { tone: "bad", text: "Disabled after failures" },
  gone: { tone: "bad", text: "Disabled after 410 Gone" },
  grant_ended: { tone: "bad", text: "Access ended" },
} as const;

export function WebhookStatus({ disabledReason }: WebhookStatusProps) {
  if (disabledReason === null) return <Chip tone="good">Enabled</Chip>;
  const { tone, text } = words[disabledReason];
  return <Chip tone={tone}>{text}</Chip>;
}

export function describeEvents({ domains, events }: Pick<Webhook, "domains" | "events">): string {
  if (events.length > 0) return events.length === 1 ? String(events[0]) : `${events.length} kinds of events`;
  if (domains.length === eventDomains.length) return "all events";
  return domains.includes("repo") ? "all repository events" : "all discussion events";
}

export const webhookName = (webhook: Pick<Webhook, "name" | "url" | "job">): string => webhook.name ?? targetName(webhook);

/** Omits the query, which may contain a key. */
export function targetName({ url, job }: Pick<Webhook, "url" | "job">): string {
  if (url !== null) return url.replace(/[?#].*$/s, (rest) => (rest === "?" || rest === "#" ? "" : `${rest[0]}…`));
  if (!job) return "A job";
  const [program = ""] = job.command;
  const place = job.spaceId ?? job.dockerImage ?? "";
  return [`Job`, [program, place && `in ${place}`].filter(Boolean).join(" ")].filter(Boolean).join(": ");
}
