import { Inbox, SearchX } from "lucide-react";
import type { Metadata } from "next";
import type { ReactNode } from "react";
import { env } from "#core/env.ts";
import { isServiceError } from "#core/errors.ts";
import { type DeliveryPage, listDeliveries, SEARCH_WINDOW } from "#core/webhooks/activity/list-deliveries.ts";
import { hasFailedAttempts, readChart } from "#core/webhooks/activity/read-chart.ts";
import { type DeliveryDetail, readDelivery } from "#core/webhooks/activity/read-delivery.ts";
import { listSavedViews, type SavedView } from "#core/webhooks/activity/saved-views.ts";
import { listReplays } from "#core/webhooks/replay/start-replay.ts";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { noticeOf } from "../../_server/page-query.ts";
import { jobListPath, webhookListPath, webhookPath } from "../../_server/paths.ts";
import { deleteWebhookAction, replayDeliveryAction, replaySelectedAction } from "../../_server/webhooks/actions.ts";
import { type WebhookPage as Found, findWebhookPage } from "../../_server/webhooks/find-webhook-page.ts";
import { ActionForm, SubmitButton } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { UrlText } from "../copyable.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import type { FormAction } from "../form-state.ts";
import { EmptyState } from "../list.tsx";
import { LocalTime } from "../local-time.client.tsx";
import { MadeWith } from "../made-with.tsx";
import { Card, FormMessage, PageHeader } from "../page-layout.tsx";
import { ActivityFilters, ReplayFailedForm } from "./activity/activity-filters.tsx";
import { ActivityKeys, SelectAll } from "./activity/activity-keys.client.tsx";
import { type ActivityQuery, activityHref, deliveryFilter, isFiltered, readActivityQuery } from "./activity/activity-query.ts";
import { ChartCard } from "./activity/chart-card.tsx";
import { DeliveryPanel } from "./activity/delivery-panel.tsx";
import { DeliveryRows } from "./activity/delivery-rows.tsx";
import { LiveTail } from "./activity/live-tail.client.tsx";
import { ReplayProgress, shownReplays } from "./activity/replay-progress.tsx";
import { SavedViews } from "./activity/saved-views.tsx";
import { DisabledNotice, EnabledForm, FirstTestForm, SendTestForm } from "./disabled-notice.tsx";
import { ItemName } from "./watched-field.client.tsx";
import { describeEvents, itemOf, targetName, unnamedItem, WebhookStatus, webhookName } from "./webhook-list.tsx";

type Props = OwnerPageProps<{ webhookId: string }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { org = null, webhookId } = await params;
  const { webhook } = await findWebhookPage(org, webhookId);
  return { title: webhookName(webhook) };
}

const notices: Readonly<Record<string, string>> = {
  created: "Webhook created. Send a test to check that it works.",
  saved: "Saved. Send a test to check that it works.",
  enabled: "Enabled. Deliveries that were on hold continue.",
};

export async function WebhookPage({ params, searchParams }: Props) {
  const [{ org = null, webhookId }, given] = await Promise.all([params, searchParams]);
  const page = await findWebhookPage(org, webhookId);
  const { person, webhook, home, isManager } = page;
  const path = webhookPath(home, webhook.id);
  const query = readActivityQuery(given);
  const now = new Date();
  const of = { ownerId: webhook.owner.id };
  const [chart, list, open, replays, views, hasFailed] = await Promise.all([
    readChart(person, webhook.id, query.span, { ...of, now }),
    listDeliveries(person, webhook.id, deliveryFilter(query), of),
    query.delivery ? openDelivery(page, query.delivery) : undefined,
    listReplays(person, webhook.id, of),
    listSavedViews(person, webhook.id),
    hasFailedAttempts(webhook.id),
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
          <FormMessage>
            This delivery is no longer kept, or belongs to another webhook. Deliveries are kept for {env().WEBHOOK_KEEP_DAYS}{" "}
            days.
          </FormMessage>
        )}
        <ChartCard chart={chart} path={path} query={query} />
        {shown.length > 0 && <ReplayProgress replays={shown} {...{ home, isManager, now }} />}
        <div className={open ? "grid grid-cols-1 items-start gap-5 xl:grid-cols-(--columns-delivery-panel)" : "grid grid-cols-1"}>
          <section aria-label="Activity" className="min-w-0">
            <Activity {...{ page, path, query, list, views, hasFailed, isReplaying, now }} />
          </section>
          {open && (
            <DeliveryPanel
              key={open.id}
              delivery={open}
              {...{ path, query, now }}
              isJob={webhook.job !== null}
              hasSecret={webhook.hasSecret}
              replay={isManager ? replayDeliveryAction.bind(null, home, webhook.id, open.id, queryOf(query)) : undefined}
              runHref={(id) => `${jobListPath(home)}/${id}`}
            />
          )}
        </div>
      </div>
    </>
  );
}

const queryOf = (query: ActivityQuery): string => activityHref("", query);

async function openDelivery({ person, webhook }: Found, id: string): Promise<DeliveryDetail | undefined> {
  try {
    return await readDelivery(person, webhook.id, id, { ownerId: webhook.owner.id });
  } catch (error) {
    // A link may lead to a delivery that was deleted because of age.
    if (isServiceError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

function WebhookHeader({ page: { webhook, home, isManager } }: Readonly<{ page: Found }>) {
  const name = webhookName(webhook);
  const path = webhookPath(home, webhook.id);
  return (
    <PageHeader
      trail={[{ href: webhookListPath(home), label: "Webhooks" }]}
      title={webhook.name ?? <span className="break-all font-mono text-lead">{name}</span>}
      status={<WebhookStatus disabledReason={webhook.disabledReason} />}
      actions={
        isManager && (
          <div className="header-actions">
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
                  Delete the webhook <span className="break-all">{name}</span>?
                </>
              }
              confirm="Delete webhook"
              size="small"
            >
              {`It gets no more events, and its deliveries are deleted.${webhook.disabledAt === null ? " To stop it temporarily, disable it instead." : ""}`}
            </ConfirmDestructive>
          </div>
        )
      }
      description={
        <span className="grid gap-y-0.5 text-small">
          {webhook.name && (
            <code className="wrap-anywhere">
              <UrlText>{targetName(webhook)}</UrlText>
            </code>
          )}
          <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
            <span>Watches</span>
            {webhook.watched.map((item) =>
              item.name === null ? (
                <span key={item.id} title={item.id}>
                  {unnamedItem(item)}
                </span>
              ) : (
                <ItemName key={item.id} item={itemOf(item)} />
              ),
            )}
          </span>
          <span>
            Receives {describeEvents(webhook)}
            {webhook.madeWith && (
              <>
                {" · "}
                <MadeWith madeWith={webhook.madeWith} />
              </>
            )}
            {!webhook.hasSecret && webhook.url !== null && (
              <>
                {" · "}
                <span className="text-warn">No secret: deliveries are not signed</span>
              </>
            )}
          </span>
        </span>
      }
    />
  );
}

/** CSS shows the bar with the button while a delivery is selected. */
function ChooseDeliveries({ action, children }: Readonly<{ action: FormAction | undefined; children: ReactNode }>) {
  if (!action) return children;
  return (
    <ActionForm action={action} label="Deliveries to replay" className="choose-deliveries">
      <SelectAll />
      {children}
      <div className="chosen-bar">
        <SubmitButton size="small">Replay selected</SubmitButton>
      </div>
    </ActionForm>
  );
}

type ActivityProps = Readonly<{
  page: Found;
  path: string;
  query: ActivityQuery;
  list: DeliveryPage;
  views: readonly SavedView[];
  hasFailed: boolean;
  isReplaying: boolean;
  now: Date;
}>;

function Activity({ page: { webhook, home, isManager }, path, query, list, views, hasFailed, isReplaying, now }: ActivityProps) {
  const { deliveries, older, searchedBackTo } = list;
  const isEmpty = deliveries.length === 0 && !isFiltered(query) && query.before === "";
  return (
    <>
      <div className="mb-2 flex flex-wrap items-start justify-end gap-2">
        {!isEmpty && (
          <ActivityFilters path={path} query={query} isJob={webhook.job !== null}>
            <SavedViews {...{ views, home, path, query }} webhookId={webhook.id} />
          </ActivityFilters>
        )}
        {query.before === "" && <LiveTail streamPath={`${path}/activity/stream`} tail={list.tail} isBusy={isReplaying} />}
      </div>
      <Card className="overflow-clip">
        {isEmpty ? (
          <EmptyState
            Icon={Inbox}
            title="No deliveries yet"
            action={isManager && <FirstTestForm webhook={webhook} home={home} />}
          >
            {isManager && "Send a sample event to check the webhook."}
            {webhook.disabledAt === null &&
              ` ${isManager ? "Or change" : "Change"} something that the webhook watches. Deliveries appear here within seconds.`}
          </EmptyState>
        ) : deliveries.length === 0 ? (
          <EmptyState
            Icon={SearchX}
            title={searchedBackTo ? "No matching deliveries so far" : "No matching deliveries"}
            action={
              searchedBackTo && older ? (
                <ButtonLink href={activityHref(path, query, { before: older })}>Search further back</ButtonLink>
              ) : (
                <ButtonLink href={path}>Show all</ButtonLink>
              )
            }
          >
            {searchedBackTo ? (
              <>
                {SEARCH_WINDOW.toLocaleString("en")} deliveries were searched, back to <LocalTime at={searchedBackTo} />.
              </>
            ) : (
              "Try other filters."
            )}
          </EmptyState>
        ) : (
          <ChooseDeliveries
            action={
              isManager && webhook.disabledAt === null
                ? replaySelectedAction.bind(null, home, webhook.id, queryOf(query))
                : undefined
            }
          >
            <ActivityKeys />
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
          <span>Kept for {env().WEBHOOK_KEEP_DAYS} days</span>
          <span className="ml-auto flex flex-wrap gap-2">
            {isManager && hasFailed && webhook.disabledAt === null && <ReplayFailedForm home={home} webhookId={webhook.id} />}
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
