import { Webhook as WebhookIcon } from "lucide-react";
import Link from "next/link";
import type { Sparkline as Recent } from "#core/webhooks/activity/sparklines.ts";
import type { Webhook } from "#core/webhooks/manage/webhook.ts";
import { ButtonLink } from "../button.tsx";
import { Card } from "../card.tsx";
import { EmptyState } from "../empty-state.tsx";
import { List } from "../list.tsx";
import { MadeWith } from "../made-with.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { OutcomeChip } from "./activity/outcome-chip.tsx";
import { Sparkline } from "./sparkline.tsx";
import { targetName } from "./target-name.ts";
import { ItemName } from "./watched-field.client.tsx";
import { WebhookStatus } from "./webhook-status.tsx";

export type WebhookListProps = Readonly<{
  webhooks: readonly Webhook[];
  /** How deliveries went lately, by webhook. */
  recent: ReadonlyMap<string, Recent>;
  /** The path of the list; each webhook's page is below it. */
  path: string;
}>;

/** More of what it watches is said in a number. */
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
              Make a webhook
            </ButtonLink>
          }
        >
          A webhook tells a program of yours, or runs a job, whenever something changes in the repositories that you choose: a
          push, a new discussion, a comment. Make one, send it a test, and see here what became of it.{" "}
          <Link prefetch={false} href="/docs/webhooks" className="link">
            The guide
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
  const { id, watched, domains, disabledReason, failingSince } = webhook;
  const last = recent?.last;
  const more = watched.length - NAMED_MAX;
  return (
    <li className="relative flex flex-wrap items-center gap-x-6 gap-y-3 px-4 py-4 hover:bg-sunken sm:px-5">
      <div className="min-w-0 flex-1 basis-72">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <Link
            prefetch={false}
            href={`${path}/${id}`}
            className="line-clamp-2 min-w-0 break-all font-medium font-mono text-small after:absolute after:inset-0 hover:underline"
          >
            {targetName(webhook)}
          </Link>
          <WebhookStatus disabledReason={disabledReason} />
        </div>
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
        <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-small">
          {last ? (
            <>
              <OutcomeChip state={last.state} outcome={last.outcome} status={last.status} isJob={webhook.job !== null} />
              <span>
                last delivery <RelativeTime at={last.createdAt} />
              </span>
            </>
          ) : (
            <span>nothing sent yet</span>
          )}
          <span>· {domains.join(", ")}</span>
          {failingSince && disabledReason === null && (
            <span className="text-bad">
              · failing since <RelativeTime at={failingSince} />
            </span>
          )}
        </p>
      </div>
      <Sparkline points={recent?.bars ?? []} share={recent?.deliveredShare ?? null} span="in 24 h" />
    </li>
  );
}

/** `type:name`; of what is gone or may not be read any more, `type:id`, which the form takes back. */
export function itemOf({ type, name, id }: Webhook["watched"][number]): string {
  return `${type}:${name ?? id}`;
}
