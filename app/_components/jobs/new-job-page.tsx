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
  const { values, secretNames } = await startingValues(context, textOf(query.from));
  return (
    <PageColumn trail={[{ href: path, label: "Jobs" }]} title="New job">
      <RunnerNotice />
      <SecretsLeftOut names={secretNames} />
      <ActionForm action={runJobAction.bind(null, context.home)} values={values} label="New job">
        <JobFields />
        <FormButtons cancelHref={path}>Run job</FormButtons>
      </ActionForm>
    </PageColumn>
  );
}

export async function startingValues(
  { person, owner }: OwnerPage,
  from: string,
): Promise<{ values: FormValues; secretNames: readonly string[] }> {
  const example = {
    ...{ source: "image", image: "debian", minutes: "30", flavor: flavors()[0]?.name },
    command: 'echo "Hello from job $JOB_ID"\nsleep 2\necho "It is $(date)"',
  };
  if (!from) return { values: example, secretNames: [] };
  try {
    const { spec, secretNames } = await findRun(person, owner, from);
    return { values: jobFormValues(spec), secretNames };
  } catch (error) {
    if (isServiceError(error)) return { values: example, secretNames: [] };
    throw error;
  }
}

export function SecretsLeftOut({ names }: Readonly<{ names: readonly string[] }>) {
  if (names.length === 0) return null;
  return (
    <FormMessage tone="good">
      The original job had secrets, which are never shown again. If the new one needs them, enter them again under Secrets:{" "}
      {names.join(", ")}.
    </FormMessage>
  );
}
