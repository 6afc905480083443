import type { Metadata } from "next";
import { isServiceError } from "#core/errors.ts";
import { flavors } from "#core/jobs/flavors.ts";
import { findRun } from "#core/jobs/runs/find-run.ts";
import { runJobAction } from "../../_server/jobs/actions.ts";
import { findJobsPage } from "../../_server/jobs/find-jobs-page.ts";
import { jobFormValues } from "../../_server/jobs/job-form.ts";
import type { OwnerPage, OwnerPageProps } from "../../_server/owner-page.ts";
import { textOf } from "../../_server/page-query.ts";
import { jobListPath } from "../../_server/paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import { FormButtons } from "../form-buttons.tsx";
import type { FormValues } from "../form-state.ts";
import { FormMessage, PageColumn } from "../page-layout.tsx";
import { JobFields } from "./job-fields.tsx";
import { RunnerNotice } from "./run-facts.tsx";

export const metadata: Metadata = { title: "New job" };

export async function NewJobPage({ params, searchParams }: OwnerPageProps) {
  const [{ org = null }, query] = await Promise.all([params, searchParams]);
  const context = await findJobsPage(org);
  const path = jobListPath(context.home);
  const start = await startingValues(context, textOf(query.from));
  return (
    <PageColumn trail={[{ href: path, label: "Jobs" }]} title="New job">
      <RunnerNotice />
      <LeftOut {...start} />
      <ActionForm action={runJobAction.bind(null, context.home)} values={start.values} label="New job">
        <JobFields />
        <FormButtons cancelHref={path}>Run job</FormButtons>
      </ActionForm>
    </PageColumn>
  );
}

type Start = Readonly<{ values: FormValues; secretNames?: readonly string[]; isTooLong?: boolean }>;

/** A page contains each value several times (S137). */
const SPEC_MAX_CHARACTERS = 128 * 1024;

export async function startingValues({ person, owner }: OwnerPage, from: string): Promise<Start> {
  const example = {
    ...{ source: "image", image: "debian", minutes: "30", flavor: flavors()[0]?.name },
    command: 'echo "Hello from job $JOB_ID"\nsleep 2\necho "It is $(date)"',
  };
  if (!from) return { values: example };
  try {
    const { spec, secretNames } = await findRun(person, owner, from);
    if (JSON.stringify(spec).length > SPEC_MAX_CHARACTERS) return { values: example, isTooLong: true };
    return { values: jobFormValues(spec), secretNames };
  } catch (error) {
    if (isServiceError(error)) return { values: example };
    throw error;
  }
}

export function LeftOut({ secretNames = [], isTooLong }: Start) {
  if (isTooLong)
    return <FormMessage tone="warn">The original job is too long for this form. Create the new one over the API.</FormMessage>;
  if (secretNames.length === 0) return null;
  return (
    <FormMessage tone="good">
      The original job had secrets, which are never shown again. If the new one needs them, enter them again under Secrets:{" "}
      {secretNames.join(", ")}.
    </FormMessage>
  );
}
