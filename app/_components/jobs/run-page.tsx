import type { Metadata } from "next";
import Link from "next/link";
import type { ReactNode } from "react";
import { may } from "#core/access/may.ts";
import { isServiceError } from "#core/errors.ts";
import { readLogEnd } from "#core/jobs/logs/read-log.ts";
import { findRun } from "#core/jobs/runs/find-run.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import { isOver } from "#core/jobs/stages.ts";
import { findWebhook } from "#core/webhooks/manage/find-webhook.ts";
import { webhookNamespace } from "#core/webhooks/manage/webhook.ts";
import { cancelRunAction, runAgainAction } from "../../_server/jobs/actions.ts";
import { findJobsPage } from "../../_server/jobs/find-jobs-page.ts";
import { orNotFound } from "../../_server/or-not-found.ts";
import type { OwnerPage, OwnerPageProps } from "../../_server/owner-page.ts";
import { noticeOf } from "../../_server/page-query.ts";
import { jobListPath, jobPath, type OwnerName, schedulesPath, webhookListPath, webhookPath } from "../../_server/paths.ts";
import { ActionButton } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { CopyButton } from "../copy-button.client.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import { MadeWith } from "../made-with.tsx";
import { FormMessage, PageHeader, SectionCard } from "../page-layout.tsx";
import { RefreshWhile } from "../refresh-while.client.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { commandOf, imageOrSpaceOf, RunnerNotice, runDuration, StageChip, startOfCommand } from "./run-facts.tsx";
import { RunLog } from "./run-log.client.tsx";

export const metadata: Metadata = { title: "Job" };

const notices: Readonly<Record<string, string>> = { cancelled: "The job is being stopped. Its log is kept." };

const LINES = 1_000;
/** The server renders an element for each change of color, and colors may change every few bytes (S137). */
const BYTES = 128 * 1024;

export async function RunPage({ params, searchParams }: OwnerPageProps<{ runId: string }>) {
  const [{ org = null, runId }, query] = await Promise.all([params, searchParams]);
  const page = await findJobsPage(org);
  const { person, owner, home } = page;
  const run = await orNotFound(findRun(person, owner, runId));
  const { id, stage, message, cancelRequestedAt } = run;
  const path = jobPath(home, id);
  const webhooks = await findRunWebhooks(page, run);
  const { chunks: pieces, isCut } = await readLogEnd(id, { lines: LINES, bytes: BYTES });
  const over = isOver(stage);
  const notice = over ? undefined : noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        trail={[{ href: jobListPath(home), label: "Jobs" }]}
        title={<span className="break-words">{nameOf(run)}</span>}
        status={<StageChip stage={stage} isCancelling={cancelRequestedAt !== null && !over} />}
        actions={<Actions {...{ home, run, webhooks }} />}
      />
      <div className="grid grid-cols-1 gap-5">
        {stage === "SCHEDULING" && <RunnerNotice />}
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        {message && <FormMessage tone={stage === "ERROR" ? "bad" : "good"}>{message}</FormMessage>}
        <SectionCard title="Log" isFlush>
          <RunLog
            key={id}
            logPath={`${path}/log`}
            pieces={pieces.map(({ at, ...piece }) => ({ ...piece, at: at.toISOString() }))}
            isCut={isCut}
            isOver={over}
            emptyText={emptyText(run)}
          />
        </SectionCard>
        {!over && (
          <SectionCard title="Cancellation" isDanger description="Changes that the job has already made are not undone.">
            <ConfirmDestructive
              action={cancelRunAction.bind(null, home, id)}
              trigger="Cancel job"
              title={`Cancel ${nameOf(run)}?`}
              confirm="Cancel this job"
            >
              {stage === "SCHEDULING"
                ? "The job has not started yet, and will not start."
                : "The job gets a signal to stop, and is killed if it is still running after ten seconds."}
            </ConfirmDestructive>
          </SectionCard>
        )}
        <SectionCard title="Run">
          <Facts {...{ home, run, webhooks }} />
        </SectionCard>
        <Environment run={run} />
      </div>
      {(stage === "SCHEDULING" || (cancelRequestedAt !== null && !over)) && <RefreshWhile seconds={3} />}
    </>
  );
}

type RunWebhooks = Readonly<{
  mayCreate: boolean;
  /** Leads to the delivery that started the run. Undefined if there is none, or the user may not see its webhook. */
  deliveryHref: string | undefined;
}>;

/** A member who may run the organization's jobs may have no rights to the organization's webhooks. */
async function findRunWebhooks({ person, owner, home }: OwnerPage, { webhookId, deliveryId }: Run): Promise<RunWebhooks> {
  const [mayCreate, webhook] = await Promise.all([
    may(person, "webhook.manage", webhookNamespace(owner)),
    webhookId === null ? undefined : findWebhook(person, webhookId, { of: owner.id }).catch(absentIfRefused),
  ]);
  return { mayCreate, deliveryHref: webhook && `${webhookPath(home, webhook.id)}?delivery=${deliveryId}` };
}

function absentIfRefused(error: unknown): undefined {
  if (!isServiceError(error)) throw error;
}

const NAME_MAX = 60;

function nameOf({ spec }: Run): string {
  if (spec.labels.name) return spec.labels.name;
  const [first = "", ...more] = startOfCommand(spec).split("\n");
  return first.length > NAME_MAX || more.length > 0 ? `${first.slice(0, NAME_MAX)} …` : first;
}

function emptyText({ stage }: Run): string {
  if (stage === "SCHEDULING") return "The job has not started yet. Its output will appear here.";
  return stage === "RUNNING" ? "No output yet." : "No output.";
}

type RunProps = Readonly<{ home: OwnerName; run: Run; webhooks: RunWebhooks }>;

/** A run that a webhook started is not repeated. The user replays the webhook's delivery instead (S129). */
function Actions({ home, run: { id, webhookId }, webhooks }: RunProps) {
  const path = jobListPath(home);
  return (
    <>
      {webhookId === null ? (
        <ActionButton action={runAgainAction.bind(null, home, id)} label="Run again" variant="primary">
          Run again
        </ActionButton>
      ) : (
        webhooks.deliveryHref && (
          <ButtonLink size="small" variant="primary" href={webhooks.deliveryHref}>
            Go to the delivery
          </ButtonLink>
        )
      )}
      <ButtonLink size="small" href={`${path}/new?from=${id}`}>
        Edit and run
      </ButtonLink>
      <ButtonLink size="small" href={`${schedulesPath(home)}/new?from=${id}`}>
        Schedule
      </ButtonLink>
      {webhooks.mayCreate && (
        <ButtonLink size="small" href={`${webhookListPath(home)}/new?job=${id}`}>
          Run on events
        </ButtonLink>
      )}
    </>
  );
}

const COMMAND_MAX_CHARACTERS = 32 * 1024;

function Facts({ home, run, webhooks }: RunProps) {
  const { id, spec, createdAt, startedAt, finishedAt, exitCode, runner } = run;
  const command = startOfCommand(spec, COMMAND_MAX_CHARACTERS);
  return (
    <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[max-content_1fr] sm:items-baseline">
      <Fact name="Started by">
        <Origin {...{ home, run, webhooks }} />
        {run.madeWith && (
          <span className="block text-muted">
            <MadeWith madeWith={run.madeWith} verb="Requested" />
          </span>
        )}
      </Fact>
      <Fact name="Created">
        <RelativeTime at={createdAt} />
      </Fact>
      {startedAt && (
        <Fact name="Started">
          <RelativeTime at={startedAt} />
        </Fact>
      )}
      {startedAt && <Fact name={finishedAt ? "Took" : "Running for"}>{runDuration(run)}</Fact>}
      {exitCode !== null && <Fact name="Exit code">{exitCode}</Fact>}
      <Fact name="Runs in">
        <code className="break-all">{imageOrSpaceOf(spec)}</code>
      </Fact>
      <Fact name="Size">
        {spec.flavor}
        {spec.network ? ", with network" : ", without network"}
        {runner && <span className="text-muted">, run by {runner}</span>}
      </Fact>
      <Fact name="Command">
        <span className="flex items-center gap-1">
          <code className="min-w-0 whitespace-pre-wrap break-all">{command}</code>
          {command === commandOf(spec) && <CopyButton value={command} label="command" />}
        </span>
      </Fact>
      {Object.keys(spec.labels).length > 0 && (
        <Fact name="Labels">
          {Object.entries(spec.labels)
            .map(([name, value]) => `${name}=${value}`)
            .join(", ")}
        </Fact>
      )}
      <Fact name="Job ID">
        <span className="flex items-center gap-1">
          <code className="break-all">{id}</code>
          <CopyButton value={id} label="job ID" />
        </span>
      </Fact>
    </dl>
  );
}

function Origin({ home, run: { initiator, webhookId }, webhooks: { deliveryHref } }: RunProps) {
  if (webhookId !== null)
    return deliveryHref ? (
      <Link prefetch={false} className="link" href={deliveryHref}>
        a delivery of a webhook
      </Link>
    ) : (
      "a delivery of a webhook"
    );
  if (initiator.type === "scheduled-job")
    return (
      <Link prefetch={false} className="link" href={schedulesPath(home)}>
        a schedule
      </Link>
    );
  if (initiator.type === "duplicated-job")
    return (
      <>
        running{" "}
        <Link prefetch={false} className="link" href={jobPath(home, initiator.id)}>
          another job
        </Link>{" "}
        again
      </>
    );
  return initiator.name ?? "a deleted user";
}

function Environment({ run: { spec, secretNames } }: Readonly<{ run: Run }>) {
  const variables = Object.entries(spec.environment);
  if (variables.length === 0 && secretNames.length === 0) return null;
  return (
    <SectionCard
      title="Environment"
      description={
        <>
          Variables set for this command, in addition to{" "}
          <Link prefetch={false} href="/docs/jobs#what-a-command-finds" className="link">
            those that every job gets
          </Link>
          .
        </>
      }
    >
      <dl className="grid gap-x-6 gap-y-2 font-mono text-small sm:grid-cols-[max-content_1fr]">
        {variables.map(([name, value]) => (
          <Fact key={name} name={name}>
            <span className="whitespace-pre-wrap break-all">{value}</span>
          </Fact>
        ))}
        {secretNames.map((name) => (
          <Fact key={`secret ${name}`} name={name}>
            <span role="img" aria-label="A secret, not shown" className="text-muted">
              ••••••••
            </span>
          </Fact>
        ))}
      </dl>
    </SectionCard>
  );
}

function Fact({ name, children }: Readonly<{ name: string; children: ReactNode }>) {
  return (
    <div className="grid sm:contents">
      <dt className="text-muted text-small">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
