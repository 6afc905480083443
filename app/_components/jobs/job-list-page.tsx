import { SquareTerminal } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { isServiceError } from "#core/errors.ts";
import { listRuns, type RunSearch } from "#core/jobs/runs/find-run.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import { isOver, type JobStage } from "#core/jobs/stages.ts";
import { findJobsPage } from "../../_server/jobs/find-jobs-page.ts";
import type { OwnerPage, OwnerPageProps } from "../../_server/owner-page.ts";
import { hrefWith, textOf } from "../../_server/page-query.ts";
import { jobListPath, schedulesPath } from "../../_server/paths.ts";
import { ButtonLink, buttonClass } from "../button.tsx";
import { Select } from "../fields.client.tsx";
import { EmptyState, List } from "../list.tsx";
import { Card, PageHeader } from "../page-layout.tsx";
import { RefreshWhile } from "../refresh-while.client.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { imageOrSpaceOf, initiatedBy, RunnerNotice, runDuration, StageChip, stageWords, startOfCommand } from "./run-facts.tsx";

export const metadata: Metadata = { title: "Jobs" };

const stageFilters: Readonly<Record<string, { label: string; stages?: JobStage[] }>> = {
  "": { label: "All jobs" },
  open: { label: "Waiting or running", stages: ["SCHEDULING", "RUNNING"] },
  done: { label: stageWords.COMPLETED, stages: ["COMPLETED"] },
  failed: { label: stageWords.ERROR, stages: ["ERROR"] },
  cancelled: { label: stageWords.CANCELED, stages: ["CANCELED"] },
};

export async function JobListPage({ params, searchParams }: OwnerPageProps) {
  const [{ org = null }, query] = await Promise.all([params, searchParams]);
  const context = await findJobsPage(org);
  const { home, fullName } = context;
  const path = jobListPath(home);
  const stage = Object.hasOwn(stageFilters, textOf(query.stage)) ? textOf(query.stage) : "";
  const webhookId = textOf(query.webhook);
  const { stages } = stageFilters[stage] ?? {};
  const isFiltered = stage !== "" || webhookId !== "";
  const before = textOf(query.before);
  const { runs, next } = await runsOf(context, {
    ...(stages && { stages }),
    ...(/^[0-9a-f]{24}$/.test(webhookId) && { webhookId }),
    ...(before && { before }),
  });
  const hrefOf = (changes: Record<string, string>) => hrefWith(path, { stage, webhook: webhookId, ...changes });
  const isEmpty = runs.length === 0 && !isFiltered && !before;
  const runJob = (
    <ButtonLink variant="primary" href={`${path}/new`}>
      New job
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Jobs"
        description={`Commands that run on this server, under ${fullName === null ? "your account" : `the account of ${fullName}`}. You, a webhook or a schedule can start them.`}
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
                  Jobs of one webhook.{" "}
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
              title={isEmpty ? "No jobs yet" : "No jobs match"}
              action={isEmpty ? runJob : <ButtonLink href={path}>All jobs</ButtonLink>}
            >
              {isEmpty ? (
                <>
                  A job runs a command, such as <code>echo "Hello from $(hostname)"</code>, and shows its output live. You can run
                  it by hand, on a schedule or from a webhook.{" "}
                  <Link prefetch={false} href="/docs/jobs" className="link">
                    The guide
                  </Link>
                </>
              ) : (
                "Try other filters."
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

/** The page is empty for a link whose position in the list is no longer valid. */
async function runsOf({ person, owner }: OwnerPage, search: RunSearch) {
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
          title={startOfCommand(spec)}
        >
          {startOfCommand(spec)}
        </Link>
        <div className="break-words text-muted text-small">
          {spec.labels.name ? `${spec.labels.name} · ` : ""}
          {imageOrSpaceOf(spec)} · {initiatedBy(run)} · <RelativeTime at={createdAt} />
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
