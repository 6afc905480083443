import { SquareTerminal } from "lucide-react";
import Link from "next/link";
import { isServiceError } from "#core/errors.ts";
import { listRuns, type RunSearch } from "#core/jobs/runs/list-runs.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import { isOver, type JobStage } from "#core/jobs/stages.ts";
import type { JobPlace } from "../../_server/jobs/find-job-place.ts";
import { jobListPath, schedulesPath } from "../../_server/jobs/job-paths.ts";
import { textOf } from "../../_server/page-query.ts";
import { ButtonLink, buttonClass } from "../button.tsx";
import { Card } from "../card.tsx";
import { EmptyState } from "../empty-state.tsx";
import { List } from "../list.tsx";
import { PageHeader } from "../page-header.tsx";
import { RefreshWhile } from "../refresh-while.client.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { Select } from "../select.client.tsx";
import { commandOf, initiatedBy, placeOf, runDuration } from "./run-facts.ts";
import { RunnerNotice } from "./runner-notice.tsx";
import { StageChip, stageWords } from "./stage-chip.tsx";

export type JobListPageProps = Readonly<{
  place: JobPlace;
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

/** What is looked for, by the address: `open` is what waits and what runs. */
const stageFilters: Readonly<Record<string, { label: string; stages?: JobStage[] }>> = {
  "": { label: "All jobs" },
  open: { label: "Waiting or running", stages: ["SCHEDULING", "RUNNING"] },
  done: { label: stageWords.COMPLETED, stages: ["COMPLETED"] },
  failed: { label: stageWords.ERROR, stages: ["ERROR"] },
  cancelled: { label: stageWords.CANCELED, stages: ["CANCELED"] },
};

/** The runs of a person or an organization, the newest first. */
export async function JobListPage({ place, query }: JobListPageProps) {
  const { home, fullName } = place;
  const path = jobListPath(home);
  const stage = Object.hasOwn(stageFilters, textOf(query.stage)) ? textOf(query.stage) : "";
  const webhookId = textOf(query.webhook);
  const { stages } = stageFilters[stage] ?? {};
  const isFiltered = stage !== "" || webhookId !== "";
  const before = textOf(query.before);
  const { runs, next } = await runsOf(place, {
    ...(stages && { stages }),
    ...(/^[0-9a-f]{24}$/.test(webhookId) && { webhookId }),
    ...(before && { before }),
  });
  const hrefOf = (changes: Record<string, string>) => {
    const to = new URLSearchParams(Object.entries({ stage, webhook: webhookId, ...changes }).filter(([, value]) => value));
    return `${path}${to.size > 0 ? `?${to}` : ""}`;
  };
  const isEmpty = runs.length === 0 && !isFiltered && !before;
  const runJob = (
    <ButtonLink variant="primary" href={`${path}/new`}>
      Run a job
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Jobs"
        description={`Commands that run here, each apart from all else, on ${fullName === null ? "your account" : `the account of ${fullName}`}. A webhook or a schedule can start them too.`}
        actions={
          <>
            <ButtonLink href={schedulesPath(home)}>Schedules</ButtonLink>
            {!isEmpty && runJob}
          </>
        }
      />
      <div className="grid grid-cols-1 gap-5">
        <RunnerNotice />
        {!isEmpty && (
          <search>
            <form action={path} className="flex flex-wrap items-end gap-3">
              {webhookId && <input type="hidden" name="webhook" value={webhookId} />}
              <div className="min-w-0 basis-56">
                <Select
                  name="stage"
                  label="Show"
                  defaultValue={stage}
                  options={Object.entries(stageFilters).map(([value, { label }]) => ({ value, label }))}
                />
              </div>
              <button type="submit" className={buttonClass({})}>
                Filter
              </button>
              {webhookId && (
                <p className="pb-2 text-muted text-small">
                  Of one webhook.{" "}
                  <Link prefetch={false} className="link" href={hrefOf({ webhook: "" })}>
                    Show all
                  </Link>
                </p>
              )}
            </form>
          </search>
        )}
        <Card>
          {runs.length === 0 ? (
            <EmptyState
              Icon={SquareTerminal}
              title={isEmpty ? "No jobs yet" : "Nothing here"}
              action={isEmpty ? runJob : <ButtonLink href={path}>All jobs</ButtonLink>}
            >
              {isEmpty ? (
                <>
                  A job runs a command, such as <code>echo "Hello from $(hostname)"</code>, and shows what it writes as it does.
                  Run one, and have a webhook or a schedule run it from then on.{" "}
                  <Link prefetch={false} href="/docs/jobs" className="link">
                    The guide
                  </Link>
                </>
              ) : (
                "No job is like that."
              )}
            </EmptyState>
          ) : (
            <List label="Jobs">
              {runs.map((run) => (
                <RunRow key={run.id} run={run} path={path} />
              ))}
            </List>
          )}
        </Card>
        {(before || next) && (
          <nav aria-label="Pages of jobs" className="flex justify-end gap-2">
            {before && (
              <ButtonLink size="small" href={hrefOf({})}>
                Newest
              </ButtonLink>
            )}
            {next && (
              <ButtonLink size="small" href={hrefOf({ before: next })}>
                Older
              </ButtonLink>
            )}
          </nav>
        )}
      </div>
      {runs.some(({ stage }) => !isOver(stage)) && <RefreshWhile seconds={3} />}
    </>
  );
}

/** A page that an old link names is an empty one. */
async function runsOf({ person, owner }: JobPlace, search: RunSearch) {
  try {
    return await listRuns(person, owner, search);
  } catch (error) {
    if (isServiceError(error) && error.code === "invalid_request") return { runs: [], next: null };
    throw error;
  }
}

function RunRow({ run, path }: Readonly<{ run: Run; path: string }>) {
  const { id, spec, stage, createdAt, cancelRequestedAt, exitCode } = run;
  const duration = runDuration(run);
  return (
    <li className="relative flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3.5 hover:bg-sunken sm:px-5">
      <div className="min-w-0 flex-1 basis-64">
        <Link
          prefetch={false}
          href={`${path}/${id}`}
          className="block truncate font-mono text-small after:absolute after:inset-0"
          title={commandOf(spec)}
        >
          {commandOf(spec)}
        </Link>
        <div className="break-words text-muted text-small">
          {spec.labels.name ? `${spec.labels.name} · ` : ""}
          {placeOf(spec)} · {initiatedBy(run)} · <RelativeTime at={createdAt} />
        </div>
      </div>
      <div className="flex items-center gap-3 text-muted text-small tabular-nums">
        {stage === "ERROR" && exitCode !== null && <span>exit code {exitCode}</span>}
        {duration && <span>{duration}</span>}
        <StageChip stage={stage} isCancelling={cancelRequestedAt !== null && !isOver(stage)} />
      </div>
    </li>
  );
}
