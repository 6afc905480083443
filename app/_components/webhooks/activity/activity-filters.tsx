import { testKinds } from "@keyhook/sdk";
import { X } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import type { OwnerName } from "../../../_server/paths.ts";
import { replayFailedAction } from "../../../_server/webhooks/actions.ts";
import { SubmitButton } from "../../action-form.client.tsx";
import { buttonClass } from "../../button.tsx";
import { classNames } from "../../class-names.ts";
import { FormDetails } from "../../details-form.client.tsx";
import { CancelButton } from "../../disclosure.client.tsx";
import { Select, SelectBox } from "../../fields.client.tsx";
import { LocalTime } from "../../local-time.client.tsx";
import { type ActivityQuery, activityHref, isFiltered, statusFilters } from "./activity-query.ts";
import { SearchInput, SendOnChange } from "./search-input.client.tsx";
import { SinceField } from "./since-field.client.tsx";

type ActivityFiltersProps = Readonly<{
  path: string;
  query: ActivityQuery;
  /** Whether the target is a job, which has no HTTP status. */
  isJob: boolean;
  /** The saved views, which are shown beside the active filters. */
  children: ReactNode;
}>;

const controlClass = "h-9 w-full min-w-0 rounded-control border border-edge bg-surface px-2.5 text-small text-ink";

/** The URL contains all filters, so that people can bookmark and share a result. */
export function ActivityFilters({ path, query, isJob, children }: ActivityFiltersProps) {
  const { status, event, repo, text, since, until, span } = query;
  return (
    <search className="min-w-0 flex-1 max-sm:basis-full">
      <SendOnChange action={path} className="flex flex-wrap items-center gap-2">
        <SearchInput
          name="text"
          value={text}
          aria-label="Search repository, event or ID"
          placeholder="Search"
          maxLength={200}
          autoComplete="off"
          className={classNames(controlClass, "flex-1 basis-32 max-sm:basis-full")}
        />
        <div className="min-w-0 flex-1 sm:w-34 sm:flex-none">
          <SelectBox key={`status ${status}`} name="status" defaultValue={status} aria-label="Status" className={controlClass}>
            <option value="">Any status</option>
            {Object.entries(statusFilters)
              .filter(([value, { filter }]) => !isJob || filter.status === undefined || value === status)
              .map(([value, { label }]) => (
                <option key={value} value={value}>
                  {isJob && value === "no-answer" ? "Not run" : label}
                </option>
              ))}
          </SelectBox>
        </div>
        <div className="min-w-0 flex-1 sm:w-52 sm:flex-none">
          <SelectBox key={`event ${event}`} name="event" defaultValue={event} aria-label="Event" className={controlClass}>
            <option value="">Any event</option>
            {testKinds.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </SelectBox>
        </div>
        {repo && <input type="hidden" name="repo" value={repo} />}
        {since && <input type="hidden" name="since" value={since} />}
        {until && <input type="hidden" name="until" value={until} />}
        {span !== "24h" && <input type="hidden" name="span" value={span} />}
        <button
          type="submit"
          className={buttonClass({ size: "small" }, "not-noscript:sr-only not-noscript:focus:not-sr-only h-9")}
        >
          Search
        </button>
      </SendOnChange>
      <div className="relative mt-2 flex flex-wrap items-center gap-x-2 gap-y-1.5 text-small empty:hidden">
        {repo && <ActiveFilter href={activityHref(path, query, { repo: "", before: "" })}>{repo}</ActiveFilter>}
        {(since || until) && (
          <ActiveFilter href={activityHref(path, query, { since: "", until: "", before: "" })}>
            <span>
              {since && (
                <>
                  from <LocalTime at={new Date(since)} look="minute" />
                </>
              )}{" "}
              {until && (
                <>
                  to <LocalTime at={new Date(until)} look="minute" />
                </>
              )}
            </span>
          </ActiveFilter>
        )}
        {isFiltered(query) && (
          <Link
            prefetch={false}
            scroll={false}
            href={activityHref(path, query, { status: "", event: "", repo: "", text: "", since: "", until: "", before: "" })}
            className="link text-muted"
          >
            Show all
          </Link>
        )}
        {children}
      </div>
    </search>
  );
}

function ActiveFilter({ href, children }: Readonly<{ href: string; children: ReactNode }>) {
  return (
    <Link
      prefetch={false}
      scroll={false}
      href={href}
      className="inline-flex min-h-6 min-w-0 items-center gap-1.5 break-all rounded-full bg-sunken px-2.5 text-fine hover:underline"
    >
      {children}
      <X className="size-3 shrink-0" aria-hidden="true" />
      <span className="sr-only">, remove this filter</span>
    </Link>
  );
}

type ReplayFailedFormProps = Readonly<{ home: OwnerName; webhookId: string }>;

export function ReplayFailedForm({ home, webhookId }: ReplayFailedFormProps) {
  return (
    <FormDetails
      action={replayFailedAction.bind(null, home, webhookId)}
      trigger="Replay all failed…"
      look={{ size: "small" }}
      label="Replay all failed deliveries"
    >
      <div className="group/since grid gap-3 rounded-control border border-line bg-surface p-4">
        <Select
          name="ago"
          label="Failed in"
          options={[
            { value: "1", label: "the last hour" },
            { value: "24", label: "the last 24 hours" },
            { value: "168", label: "the last 7 days" },
            { value: "720", label: "the last 30 days" },
            { value: "since", label: "a custom period…" },
          ]}
          defaultValue="24"
        />
        <div className="hidden group-has-[option[value=since]:checked]/since:block">
          <SinceField />
        </div>
        <p className="text-muted text-small">
          Sends the same payloads, with the same IDs, to the webhook&rsquo;s current target. You can leave the page while the
          replay runs, or cancel it.
        </p>
        <div className="flex gap-2">
          <SubmitButton size="small">Replay all</SubmitButton>
          <CancelButton size="small" />
        </div>
      </div>
    </FormDetails>
  );
}
