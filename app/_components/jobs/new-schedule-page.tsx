import { createScheduleAction } from "../../_server/jobs/actions.ts";
import type { JobPlace } from "../../_server/jobs/find-job-place.ts";
import { jobListPath, schedulesPath } from "../../_server/jobs/job-paths.ts";
import { textOf } from "../../_server/page-query.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { ChoiceRow } from "../choice-row.client.tsx";
import { Field } from "../field.client.tsx";
import { PageHeader } from "../page-header.tsx";
import { SectionCard } from "../section-card.tsx";
import { Select } from "../select.client.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { JobFields } from "./job-fields.tsx";
import { SecretsLeftOut, startingValues } from "./new-job-page.tsx";
import { RunnerNotice } from "./runner-notice.tsx";

export type NewSchedulePageProps = Readonly<{
  place: JobPlace;
  /** `from`: the run whose spec fills the form. */
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

const choices = [
  { value: "@hourly", label: "Every hour" },
  { value: "@daily", label: "Every day at midnight" },
  { value: "0 9 * * 1-5", label: "On weekdays at nine" },
  { value: "@weekly", label: "Every Sunday at midnight" },
  { value: "@monthly", label: "On the first of each month" },
  { value: "custom", label: "As written below" },
];

/** Has a job of a person or an organization run again and again. */
export async function NewSchedulePage({ place, query }: NewSchedulePageProps) {
  const path = schedulesPath(place.home);
  const { values, secretNames } = await startingValues(place, textOf(query.from));
  return (
    <>
      <PageHeader
        trail={[
          { href: jobListPath(place.home), label: "Jobs" },
          { href: path, label: "Schedules" },
        ]}
        title="New schedule"
      />
      <div className="grid gap-5">
        <RunnerNotice />
        <SecretsLeftOut names={secretNames} />
        <ActionForm
          action={createScheduleAction.bind(null, place.home)}
          values={{ every: "@daily", timezone: "UTC", ...values }}
          label="New schedule"
        >
          <SectionCard title="When">
            <div className="grid max-w-reading gap-5">
              <Select name="every" label="Runs" options={choices} />
              <Field
                name="schedule"
                label="Cron line"
                hint="Minute, hour, day of the month, month, weekday: */15 8-17 * * 1-5. For “As written below”."
                isMono
                autoComplete="off"
                spellCheck={false}
                isOptional
              />
              <Field name="timezone" label="Time zone" hint="As in Europe/Zurich." autoComplete="off" spellCheck={false} />
              <ChoiceRow
                type="checkbox"
                name="overlap"
                label="May start while the last run goes on"
                hint="Otherwise that time is left out."
              />
            </div>
          </SectionCard>
          <JobFields />
          <div className="flex flex-wrap gap-3">
            <SubmitButton>Schedule it</SubmitButton>
            <ButtonLink href={path}>Cancel</ButtonLink>
          </div>
        </ActionForm>
      </div>
    </>
  );
}
