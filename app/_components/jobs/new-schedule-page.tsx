import type { Metadata } from "next";
import { createScheduleAction } from "../../_server/jobs/actions.ts";
import { findJobsPage } from "../../_server/jobs/find-jobs-page.ts";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { textOf } from "../../_server/page-query.ts";
import { jobListPath, schedulesPath } from "../../_server/paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ChoiceRow, Field, Select } from "../fields.client.tsx";
import { FormButtons } from "../form-buttons.tsx";
import { PageColumn, SectionCard } from "../page-layout.tsx";
import { JobFields } from "./job-fields.tsx";
import { LeftOut, startingValues } from "./new-job-page.tsx";
import { RunnerNotice } from "./run-facts.tsx";

export const metadata: Metadata = { title: "New schedule" };

const choices = [
  { value: "@hourly", label: "Every hour" },
  { value: "@daily", label: "Every day at midnight" },
  { value: "0 9 * * 1-5", label: "On weekdays at 9:00" },
  { value: "@weekly", label: "Every Sunday at midnight" },
  { value: "@monthly", label: "On the first of each month" },
  { value: "custom", label: "Custom (enter it below)" },
];

export async function NewSchedulePage({ params, searchParams }: OwnerPageProps) {
  const [{ org = null }, query] = await Promise.all([params, searchParams]);
  const context = await findJobsPage(org);
  const path = schedulesPath(context.home);
  const start = await startingValues(context, textOf(query.from));
  return (
    <PageColumn
      trail={[
        { href: jobListPath(context.home), label: "Jobs" },
        { href: path, label: "Schedules" },
      ]}
      title="New schedule"
    >
      <RunnerNotice />
      <LeftOut {...start} />
      <ActionForm
        action={createScheduleAction.bind(null, context.home)}
        values={{ every: "@daily", timezone: "UTC", ...start.values }}
        label="New schedule"
      >
        <SectionCard title="Time">
          <div className="group/when grid max-w-reading gap-5">
            <Select name="every" label="Runs" options={choices} />
            <div className="hidden group-has-[option[value=custom]:checked]/when:block">
              <Field
                name="schedule"
                label="Cron expression"
                hint={
                  <>
                    Minute, hour, day of the month, month and weekday, for example{" "}
                    <code className="whitespace-nowrap">*/15 8-17 * * 1-5</code>.
                  </>
                }
                isMono
                isOptional
              />
            </div>
            <Field name="timezone" label="Time zone" hint="For example, Europe/Zurich." autoComplete="off" spellCheck={false} />
            <ChoiceRow
              type="checkbox"
              name="overlap"
              label="Allow overlapping runs"
              hint="Otherwise, a run is skipped while the previous one is still running."
            />
          </div>
        </SectionCard>
        <JobFields />
        <FormButtons cancelHref={path}>Create schedule</FormButtons>
      </ActionForm>
    </PageColumn>
  );
}
