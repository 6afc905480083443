import { type ChartRange, chartRanges, type DeliveryFilter, eventScopes, testKinds } from "@keyhook/sdk";
import { searchOf, textOf } from "../../../_server/page-query.ts";

export type ActivityQuery = Readonly<{
  status: string;
  event: string;
  repo: string;
  text: string;
  since: string;
  until: string;
  before: string;
  span: ChartRange;
  delivery: string;
}>;

export const spanLabels: Readonly<Record<ChartRange, string>> = { "24h": "24 h", "7d": "7 days", "30d": "30 days" };
export const spanWords: Readonly<Record<ChartRange, string>> = {
  "24h": "the last 24 hours",
  "7d": "the last 7 days",
  "30d": "the last 30 days",
};

export const statusFilters: Readonly<Record<string, { label: string; filter: DeliveryFilter }>> = {
  delivered: { label: "Delivered", filter: { state: "delivered" } },
  waiting: { label: "Waiting or retrying", filter: { state: "waiting" } },
  failed: { label: "Failed", filter: { state: "failed" } },
  "4xx": { label: "Responded with 4xx", filter: { status: "4xx" } },
  "5xx": { label: "Responded with 5xx", filter: { status: "5xx" } },
  "no-answer": { label: "No response", filter: { outcome: "unreachable" } },
  "over-limit": { label: "Over the limit", filter: { state: "rate_limited" } },
  withheld: { label: "Withheld", filter: { state: "withheld" } },
};

export function readActivityQuery(query: Readonly<Record<string, string | string[] | undefined>>): ActivityQuery {
  const span = chartRanges.find((each) => each === textOf(query.span)) ?? "24h";
  const status = textOf(query.status);
  const event = textOf(query.event);
  return {
    status: Object.hasOwn(statusFilters, status) ? status : "",
    event: (testKinds as readonly string[]).includes(event) || (eventScopes as readonly string[]).includes(event) ? event : "",
    repo: searchOf(query.repo),
    text: searchOf(query.text),
    since: timeOf(query.since),
    until: timeOf(query.until),
    before: idOf(query.before),
    span,
    delivery: idOf(query.delivery),
  };
}

export function deliveryFilter({ status, event, repo, text, since, until, before }: ActivityQuery): DeliveryFilter {
  const scope = eventScopes.find((each) => event === each || event.slice(0, event.lastIndexOf(".")) === each);
  const action = scope && event !== scope ? event.slice(scope.length + 1) : undefined;
  return {
    ...statusFilters[status]?.filter,
    ...(scope && { scope }),
    ...(action && { action: action as DeliveryFilter["action"] }),
    ...(repo && { repo }),
    ...(text && { text }),
    ...(since && { since }),
    ...(until && { until }),
    ...(before && { cursor: before }),
  };
}

export function isFiltered({ status, event, repo, text, since, until }: ActivityQuery): boolean {
  return [status, event, repo, text, since, until].some((value) => value !== "");
}

/** An empty value in `changes` removes the parameter. */
export function activityHref(path: string, query: ActivityQuery, changes: Partial<ActivityQuery> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...changes })) {
    if (value !== "" && !(name === "span" && value === "24h")) parameters.set(name, value);
  }
  const text = parameters.toString();
  return text ? `${path}?${text}` : path;
}

const idOf = (value: string | string[] | undefined): string => /^[0-9a-f]{24}$/.exec(textOf(value))?.[0] ?? "";

function timeOf(value: string | string[] | undefined): string {
  const at = Date.parse(textOf(value));
  return Number.isNaN(at) ? "" : new Date(at).toISOString();
}
