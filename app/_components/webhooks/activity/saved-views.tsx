import Link from "next/link";
import { SAVED_VIEW_NAME_MAX_CHARACTERS, type SavedView } from "#core/webhooks/activity/saved-views.ts";
import type { OwnerName } from "../../../_server/paths.ts";
import { deleteViewAction, saveViewAction } from "../../../_server/webhooks/actions.ts";
import { ActionForm, SubmitButton } from "../../action-form.client.tsx";
import { classNames } from "../../class-names.ts";
import { FormDetails } from "../../details-form.client.tsx";
import { CancelButton } from "../../disclosure.client.tsx";
import { Field } from "../../fields.client.tsx";
import { type ActivityQuery, activityHref, isFiltered, readActivityQuery } from "./activity-query.ts";

type SavedViewsProps = Readonly<{
  views: readonly SavedView[];
  home: OwnerName;
  webhookId: string;
  path: string;
  query: ActivityQuery;
}>;

export function SavedViews({ views, home, webhookId, path, query }: SavedViewsProps) {
  const current = filtersOf(query);
  const queries = views.map((view) => filtersOf(readActivityQuery(Object.fromEntries(new URLSearchParams(view.query)))));
  const shown = views[queries.indexOf(current)];
  if (views.length === 0 && !isFiltered(query)) return null;
  return (
    <>
      {views.length > 0 && (
        <nav aria-label="Saved views" className="flex min-w-0 flex-wrap gap-1.5">
          {views.map((view, index) => (
            <Link
              key={view.name}
              prefetch={false}
              scroll={false}
              href={`${path}${queries[index]}`}
              aria-current={view === shown ? "true" : undefined}
              className={classNames(
                "inline-flex min-h-8 min-w-0 items-center break-words rounded-full border px-3 font-medium text-fine",
                view === shown ? "border-ink text-ink" : "border-line text-muted hover:text-ink",
              )}
            >
              {view.name}
            </Link>
          ))}
        </nav>
      )}
      {shown ? (
        <ActionForm action={deleteViewAction.bind(null, home, webhookId, shown.name, current)} label="Delete the view">
          <SubmitButton size="small" variant="secondary">
            Delete view
          </SubmitButton>
        </ActionForm>
      ) : (
        isFiltered(query) &&
        current !== "" && (
          <div className="header-actions max-sm:static sm:[&_details>div]:right-auto sm:[&_details>div]:left-0">
            <FormDetails
              key={current}
              action={saveViewAction.bind(null, home, webhookId, current)}
              trigger="Save view…"
              look={{ size: "small" }}
              label="Save these filters as a view"
            >
              <Field
                name="name"
                label="Name"
                hint="Only you can see it. The time range is not saved. A view with the same name is replaced."
                maxLength={SAVED_VIEW_NAME_MAX_CHARACTERS}
                autoComplete="off"
              />
              <div className="flex gap-2">
                <SubmitButton size="small">Save view</SubmitButton>
                <CancelButton size="small" />
              </div>
            </FormDetails>
          </div>
        )
      )}
    </>
  );
}

function filtersOf({ status, event, repo, text }: ActivityQuery): string {
  return activityHref("", { ...noFilters, status, event, repo, text });
}

const noFilters = readActivityQuery({});
