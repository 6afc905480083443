import { testKinds } from "@keyhook/sdk";
import { X } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { buttonClass } from "../../button.tsx";
import { classNames } from "../../class-names.ts";
import { type ActivityQuery, activityHref, isNarrowed, statusFilters } from "./activity-query.ts";
import { SearchInput } from "./search-input.client.tsx";
import { SendOnChange } from "./send-on-change.client.tsx";

export type ActivityFiltersProps = Readonly<{ path: string; query: ActivityQuery }>;

/** Smaller than a form's, and as wide as there is room for. */
const controlClass = "h-9 min-w-0 rounded-control border border-edge bg-surface px-2.5 text-small text-ink";

const timeWords = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** Narrows the list. All of it is in the address, so that what is found can be kept and sent on. */
export function ActivityFilters({ path, query }: ActivityFiltersProps) {
  const { status, event, repo, text, since, until, span } = query;
  return (
    <search className="min-w-0">
      <SendOnChange action={path} className="flex flex-wrap items-center gap-2">
        <SearchInput
          name="text"
          value={text}
          aria-label="Search repository, event or id"
          placeholder="Search repo, event, id"
          maxLength={200}
          autoComplete="off"
          className={classNames(controlClass, "flex-1 basis-32")}
        />
        <select
          key={`status ${status}`}
          name="status"
          defaultValue={status}
          aria-label="Status"
          className={classNames(controlClass, "flex-1 basis-28 sm:max-w-36 sm:flex-none")}
        >
          <option value="">Any status</option>
          {Object.entries(statusFilters).map(([value, { label }]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <select
          key={`event ${event}`}
          name="event"
          defaultValue={event}
          aria-label="Event"
          className={classNames(controlClass, "flex-1 basis-28 sm:max-w-36 sm:flex-none")}
        >
          <option value="">Any event</option>
          {testKinds.map((kind) => (
            <option key={kind}>{kind}</option>
          ))}
        </select>
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
      {isNarrowed(query) && (
        <p className="mt-2 flex flex-wrap items-center gap-2 text-small">
          {repo && <Narrowed href={activityHref(path, query, { repo: "", before: "" })}>{repo}</Narrowed>}
          {(since || until) && (
            <Narrowed href={activityHref(path, query, { since: "", until: "", before: "" })}>
              {[since && `from ${timeWords.format(new Date(since))}`, until && `to ${timeWords.format(new Date(until))}`]
                .filter(Boolean)
                .join(" ")}{" "}
              UTC
            </Narrowed>
          )}
          <Link
            prefetch={false}
            scroll={false}
            href={activityHref(path, query, { status: "", event: "", repo: "", text: "", since: "", until: "", before: "" })}
            className="link text-muted"
          >
            Show all
          </Link>
        </p>
      )}
    </search>
  );
}

function Narrowed({ href, children }: Readonly<{ href: string; children: ReactNode }>) {
  return (
    <Link
      prefetch={false}
      scroll={false}
      href={href}
      className="inline-flex min-h-6 min-w-0 items-center gap-1.5 break-all rounded-full bg-sunken px-2.5 text-fine hover:underline"
    >
      {children}
      <X className="size-3 shrink-0" aria-hidden="true" />
      <span className="sr-only">, take this away</span>
    </Link>
  );
}
