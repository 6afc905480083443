import { Inbox, SearchX } from "lucide-react";
import type { ReactNode } from "react";
import { isServiceError } from "#core/errors.ts";
import { type DeliveryPage, listDeliveries } from "#core/webhooks/activity/list-deliveries.ts";
import { readChart } from "#core/webhooks/activity/read-chart.ts";
import { type DeliveryDetail, readDelivery } from "#core/webhooks/activity/read-delivery.ts";
import { listReplays } from "#core/webhooks/replay/read-replay.ts";
import { noticeOf } from "../../_server/page-query.ts";
import { deleteWebhookAction, replayDeliveryAction, replaySelectedAction } from "../../_server/webhooks/actions.ts";
import type { WebhookPage as Found } from "../../_server/webhooks/find-webhook-page.ts";
import { jobsPath, webhookListPath, webhookPath } from "../../_server/webhooks/webhook-paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { Card } from "../card.tsx";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import { EmptyState } from "../empty-state.tsx";
import { FormMessage } from "../form-message.tsx";
import type { FormAction } from "../form-state.ts";
import { MadeWith } from "../made-with.tsx";
import { PageHeader } from "../page-header.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { ActivityFilters } from "./activity/activity-filters.tsx";
import { type ActivityQuery, activityHref, deliveryFilter, isNarrowed, readActivityQuery } from "./activity/activity-query.ts";
import { ChartCard } from "./activity/chart-card.tsx";
import { DeliveryPanel } from "./activity/delivery-panel.tsx";
import { DeliveryRows } from "./activity/delivery-rows.tsx";
import { LiveTail } from "./activity/live-tail.client.tsx";
import { ReplayFailedForm } from "./activity/replay-failed-form.tsx";
import { ReplayProgress, shownReplays } from "./activity/replay-progress.tsx";
import { DisabledNotice } from "./disabled-notice.tsx";
import { EnabledForm } from "./enabled-form.tsx";
import { FirstTestForm, SendTestForm } from "./send-test-form.tsx";
import { targetName } from "./target-name.ts";
import { ItemName } from "./watched-field.client.tsx";
import { itemOf } from "./webhook-list.tsx";
import { WebhookStatus } from "./webhook-status.tsx";

export type WebhookPageProps = Readonly<{
  page: Found;
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

const notices: Readonly<Record<string, string>> = {
  created: "The webhook is made. Send it a test to see that it arrives.",
  saved: "Saved. Send it a test to see that it arrives.",
  enabled: "Enabled. What waited is sent now.",
};

/** One webhook: what it is, how it goes, and every delivery. */
export async function WebhookPage({ page, query: given }: WebhookPageProps) {
  const { person, webhook, home, isManager } = page;
  const path = webhookPath(home, webhook.id);
  const query = readActivityQuery(given);
  const now = new Date();
  const of = { ownerId: webhook.owner.id };
  const [chart, list, open, replays] = await Promise.all([
    readChart(person, webhook.id, query.span, { ...of, now }),
    listDeliveries(person, webhook.id, deliveryFilter(query), of),
    query.delivery ? openDelivery(page, query.delivery) : undefined,
    listReplays(person, webhook.id, of),
  ]);
  const notice = noticeOf(notices, given.notice);
  const shown = shownReplays(replays, now);
  const isReplaying = shown.some(({ state }) => state === "running");
  return (
    <>
      <WebhookHeader page={page} />
      <div className="grid grid-cols-1 gap-5">
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <DisabledNotice webhook={webhook} home={home} isManager={isManager} />
        {query.delivery && !open && (
          <FormMessage>This delivery is not kept any more, or is another webhook's. Deliveries are kept for 30 days.</FormMessage>
        )}
        <ChartCard chart={chart} path={path} query={query} />
        {shown.length > 0 && <ReplayProgress replays={shown} {...{ home, isManager, now }} />}
        <div className={open ? "grid grid-cols-1 items-start gap-5 xl:grid-cols-(--columns-delivery-panel)" : "grid grid-cols-1"}>
          <section aria-label="Activity" className="min-w-0">
            <Activity {...{ page, path, query, list, isReplaying, now }} />
          </section>
          {open && (
            <DeliveryPanel
              key={open.id}
              delivery={open}
              {...{ path, query, now }}
              isJob={webhook.job !== null}
              hasSecret={webhook.hasSecret}
              replay={isManager ? replayDeliveryAction.bind(null, home, webhook.id, open.id, queryOf(query)) : undefined}
              runHref={(id) => `${jobsPath(home)}/${id}`}
            />
          )}
        </div>
      </div>
    </>
  );
}

/** Of the address of the page, as it stands. */
const queryOf = (query: ActivityQuery): string => activityHref("", query);

async function openDelivery({ person, webhook }: Found, id: string): Promise<DeliveryDetail | undefined> {
  try {
    return await readDelivery(person, webhook.id, id, { ownerId: webhook.owner.id });
  } catch (error) {
    // A link to it may be older than its history is kept: the page says so, and the rest of it is there.
    if (isServiceError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

function WebhookHeader({ page: { webhook, home, isManager } }: Readonly<{ page: Found }>) {
  const name = targetName(webhook);
  const path = webhookPath(home, webhook.id);
  return (
    <PageHeader
      trail={[{ href: webhookListPath(home), label: "Webhooks" }]}
      title={<span className="break-all font-mono text-lead">{name}</span>}
      status={<WebhookStatus disabledReason={webhook.disabledReason} />}
      actions={
        isManager && (
          <div className="header-acts">
            <SendTestForm webhook={webhook} home={home} />
            {webhook.disabledAt === null && <EnabledForm home={home} webhookId={webhook.id} isEnabled />}
            <ButtonLink size="small" href={`${path}/edit`}>
              Edit
            </ButtonLink>
            <ConfirmDestructive
              action={deleteWebhookAction.bind(null, home, webhook.id)}
              trigger="Delete"
              title={
                <>
                  Delete the webhook to <span className="break-all">{name}</span>?
                </>
              }
              confirm="Delete the webhook"
              size="small"
            >
              Nothing is sent to it any more, what waits is dropped, and its history cannot be looked at. To stop it for a while,
              disable it.
            </ConfirmDestructive>
          </div>
        )
      }
      description={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-small">
          <span>Watches</span>
          {webhook.watched.map((item) =>
            item.name === null ? (
              <span key={item.id} title={item.id}>
                a {item.type} that is gone or closed to you
              </span>
            ) : (
              <ItemName key={item.id} item={itemOf(item)} />
            ),
          )}
          <span>· {webhook.domains.join(", ")}</span>
          {webhook.madeWith && (
            <span>
              · <MadeWith madeWith={webhook.madeWith} />
            </span>
          )}
          {!webhook.hasSecret && webhook.url !== null && (
            <span className="text-warn">· no secret: deliveries are not signed</span>
          )}
        </span>
      }
    />
  );
}

/** The list as a form: what is chosen in it is replayed together. The bar comes with the first choice, without JavaScript too. */
function ChooseDeliveries({ action, children }: Readonly<{ action: FormAction | undefined; children: ReactNode }>) {
  if (!action) return children;
  return (
    <ActionForm action={action} label="Deliveries to replay" className="choose-deliveries">
      {children}
      <div className="chosen-bar">
        <SubmitButton size="small">Replay the chosen</SubmitButton>
      </div>
    </ActionForm>
  );
}

type ActivityProps = Readonly<{
  page: Found;
  path: string;
  query: ActivityQuery;
  list: DeliveryPage;
  isReplaying: boolean;
  now: Date;
}>;

function Activity({ page: { webhook, home, isManager }, path, query, list, isReplaying, now }: ActivityProps) {
  const { deliveries, older, searchedBackTo } = list;
  const isEmpty = deliveries.length === 0 && !isNarrowed(query) && query.before === "";
  return (
    <>
      <div className="mb-2 flex flex-wrap items-start gap-2">
        <div className="min-w-0 flex-1">{!isEmpty && <ActivityFilters path={path} query={query} />}</div>
        {query.before === "" && <LiveTail streamPath={`${path}/activity/stream`} tail={list.tail} isBusy={isReplaying} />}
      </div>
      <Card className="overflow-clip">
        {isEmpty ? (
          <EmptyState
            Icon={Inbox}
            title="Nothing was sent yet"
            action={isManager && <FirstTestForm webhook={webhook} home={home} />}
          >
            Send a test: a made-up event, to see that it arrives.
            {webhook.disabledAt === null &&
              " Or change something that is watched: push a commit, open a discussion. It shows here within a second."}
          </EmptyState>
        ) : deliveries.length === 0 ? (
          <EmptyState
            Icon={SearchX}
            title={searchedBackTo ? "Nothing like that so far" : "Nothing like that"}
            action={
              searchedBackTo && older ? (
                <ButtonLink href={activityHref(path, query, { before: older })}>Search further back</ButtonLink>
              ) : (
                <ButtonLink href={path}>Show all</ButtonLink>
              )
            }
          >
            {searchedBackTo
              ? `The latest 10,000 deliveries were searched, back to ${searchedBackTo.toISOString().slice(0, 16).replace("T", " ")} UTC.`
              : "No delivery that is kept is like that."}
          </EmptyState>
        ) : (
          <ChooseDeliveries
            action={
              isManager && webhook.disabledAt === null
                ? replaySelectedAction.bind(null, home, webhook.id, queryOf(query))
                : undefined
            }
          >
            <DeliveryRows
              {...{ deliveries, path, query, now }}
              isJob={webhook.job !== null}
              isManager={isManager && webhook.disabledAt === null}
            />
          </ChooseDeliveries>
        )}
      </Card>
      {!isEmpty && (
        <nav aria-label="Pages of deliveries" className="mt-2 flex flex-wrap items-center gap-3 text-muted text-small">
          <span>Kept for 30 days</span>
          <span className="ml-auto flex flex-wrap gap-2">
            {isManager && webhook.disabledAt === null && <ReplayFailedForm home={home} webhookId={webhook.id} />}
            {query.before && (
              <ButtonLink size="small" href={activityHref(path, query, { before: "", delivery: "" })}>
                Newest
              </ButtonLink>
            )}
            {older && (
              <ButtonLink size="small" href={activityHref(path, query, { before: older, delivery: "" })}>
                Older
              </ButtonLink>
            )}
          </span>
        </nav>
      )}
    </>
  );
}
