import { isServiceError } from "#core/errors.ts";
import { flavors } from "#core/jobs/flavors.ts";
import { findRun } from "#core/jobs/runs/find-run.ts";
import { runJobAction } from "../../_server/jobs/actions.ts";
import type { JobPlace } from "../../_server/jobs/find-job-place.ts";
import { jobFormValues } from "../../_server/jobs/job-form.ts";
import { jobListPath } from "../../_server/jobs/job-paths.ts";
import { textOf } from "../../_server/page-query.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { FormMessage } from "../form-message.tsx";
import type { FormValues } from "../form-state.ts";
import { PageHeader } from "../page-header.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { JobFields } from "./job-fields.tsx";
import { RunnerNotice } from "./runner-notice.tsx";

export type NewJobPageProps = Readonly<{
  place: JobPlace;
  /** `from`: the run whose spec fills the form. */
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

/** Runs a job for a person or an organization. */
export async function NewJobPage({ place, query }: NewJobPageProps) {
  const path = jobListPath(place.home);
  const { values, secretNames } = await startingValues(place, textOf(query.from));
  return (
    <>
      <PageHeader trail={[{ href: path, label: "Jobs" }]} title="Run a job" />
      <div className="grid gap-5">
        <RunnerNotice />
        <SecretsLeftOut names={secretNames} />
        <ActionForm action={runJobAction.bind(null, place.home)} values={values} label="Run a job">
          <JobFields />
          <div className="flex flex-wrap gap-3">
            <SubmitButton>Run it</SubmitButton>
            <ButtonLink href={path}>Cancel</ButtonLink>
          </div>
        </ActionForm>
      </div>
    </>
  );
}

/** What the form starts with: an example that works here, or what ran before. */
export async function startingValues(
  { person, owner }: JobPlace,
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
      It ran with secrets, which are not shown again. Set them anew where it needs them: {names.join(", ")}.
    </FormMessage>
  );
}
