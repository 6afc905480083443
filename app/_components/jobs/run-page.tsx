import Link from "next/link";
import type { ReactNode } from "react";
import { readLogEnd } from "#core/jobs/logs/read-log.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import { isOver } from "#core/jobs/stages.ts";
import { cancelRunAction, runAgainAction } from "../../_server/jobs/actions.ts";
import type { JobPlace } from "../../_server/jobs/find-job-place.ts";
import { jobListPath, jobPath, schedulesPath } from "../../_server/jobs/job-paths.ts";
import { noticeOf } from "../../_server/page-query.ts";
import { webhookListPath, webhookPath } from "../../_server/webhooks/webhook-paths.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import { CopyButton } from "../copy-button.client.tsx";
import { FormMessage } from "../form-message.tsx";
import { MadeWith } from "../made-with.tsx";
import { PageHeader } from "../page-header.tsx";
import { RefreshWhile } from "../refresh-while.client.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { SectionCard } from "../section-card.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { commandOf, placeOf, runDuration } from "./run-facts.ts";
import { RunLog } from "./run-log.client.tsx";
import { RunnerNotice } from "./runner-notice.tsx";
import { StageChip } from "./stage-chip.tsx";

export type RunPageProps = Readonly<{
  place: JobPlace;
  run: Run;
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

const notices: Readonly<Record<string, string>> = { cancelled: "It is told to end. Its log stays." };

/** Lines of the log that come with the page; the rest of what there was is a file to download. */
const LINES = 1_000;
/** Every few bytes may change the colour, and each change is an element that is drawn here too (S137). */
const BYTES = 128 * 1024;

/** One run: how it goes, what it writes, and all it was started with. */
export async function RunPage({ place: { home }, run, query }: RunPageProps) {
  const { id, stage, message, cancelRequestedAt } = run;
  const path = jobPath(home, id);
  const { chunks: pieces, isCut } = await readLogEnd(id, { lines: LINES, bytes: BYTES });
  const over = isOver(stage);
  const notice = over ? undefined : noticeOf(notices, query.notice);
  return (
    <>
      <PageHeader
        trail={[{ href: jobListPath(home), label: "Jobs" }]}
        title={<span className="break-words">{nameOf(run)}</span>}
        status={<StageChip stage={stage} isCancelling={cancelRequestedAt !== null && !over} />}
        actions={<Actions home={home} run={run} />}
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
          <SectionCard title="End it" isDanger description="What it has done until now stays done.">
            <ConfirmDestructive
              action={cancelRunAction.bind(null, home, id)}
              trigger="Cancel job"
              title={`Cancel ${nameOf(run)}?`}
              confirm="Cancel this job"
            >
              It is asked to end, and ended ten seconds later if it has not.
            </ConfirmDestructive>
          </SectionCard>
        )}
        <SectionCard title="Run">
          <Facts home={home} run={run} />
        </SectionCard>
        <Environment run={run} />
      </div>
      {(stage === "SCHEDULING" || (cancelRequestedAt !== null && !over)) && <RefreshWhile seconds={3} />}
    </>
  );
}

const NAME_MAX = 60;

/** What people call a run: the name that clients label it with, or how its command begins. */
function nameOf({ spec }: Run): string {
  if (spec.labels.name) return spec.labels.name;
  const [first = "", ...more] = commandOf(spec).split("\n");
  return first.length > NAME_MAX || more.length > 0 ? `${first.slice(0, NAME_MAX)} …` : first;
}

function emptyText({ stage }: Run): string {
  if (stage === "SCHEDULING") return "It waits for a worker. What it writes appears here.";
  return stage === "RUNNING" ? "Nothing written yet." : "It wrote nothing.";
}

function Actions({ home, run: { id, deliveryId } }: Readonly<{ home: JobPlace["home"]; run: Run }>) {
  const path = jobListPath(home);
  return (
    <>
      <ActionForm action={runAgainAction.bind(null, home, id)} label="Run again">
        <SubmitButton variant={deliveryId ? "secondary" : "primary"} size="small">
          {deliveryId ? "Run without payload" : "Run again"}
        </SubmitButton>
      </ActionForm>
      <ButtonLink size="small" href={`${path}/new?from=${id}`}>
        Change and run
      </ButtonLink>
      <ButtonLink size="small" href={`${schedulesPath(home)}/new?from=${id}`}>
        Schedule
      </ButtonLink>
      <ButtonLink size="small" href={`${webhookListPath(home)}/new?job=${id}`}>
        Run on events
      </ButtonLink>
    </>
  );
}

function Facts({ home, run }: Readonly<{ home: JobPlace["home"]; run: Run }>) {
  const { id, spec, createdAt, startedAt, finishedAt, exitCode, runner } = run;
  return (
    <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[max-content_1fr]">
      <Fact name="Started by">
        <Origin home={home} run={run} />
        {run.madeWith && (
          <span className="block text-muted">
            <MadeWith madeWith={run.madeWith} verb="Requested" />
          </span>
        )}
      </Fact>
      <Fact name="Asked for">
        <RelativeTime at={createdAt} />
      </Fact>
      {startedAt && (
        <Fact name="Started">
          <RelativeTime at={startedAt} />
        </Fact>
      )}
      {startedAt && <Fact name={finishedAt ? "Took" : "Runs for"}>{runDuration(run)}</Fact>}
      {exitCode !== null && <Fact name="Exit code">{exitCode}</Fact>}
      <Fact name="Runs in">
        <code className="break-all">{placeOf(spec)}</code>
      </Fact>
      <Fact name="Size">
        {spec.flavor}
        {spec.network ? ", with network" : ", without network"}
        {runner && <span className="text-muted">, by {runner}</span>}
      </Fact>
      <Fact name="Command">
        <span className="flex items-start gap-1">
          <code className="min-w-0 whitespace-pre-wrap break-all">{commandOf(spec)}</code>
          <CopyButton value={commandOf(spec)} label="command" />
        </span>
      </Fact>
      {Object.keys(spec.labels).length > 0 && (
        <Fact name="Labels">
          {Object.entries(spec.labels)
            .map(([name, value]) => `${name}=${value}`)
            .join(", ")}
        </Fact>
      )}
      <Fact name="Job id">
        <span className="flex items-center gap-1">
          <code className="break-all">{id}</code>
          <CopyButton value={id} label="job id" />
        </span>
      </Fact>
    </dl>
  );
}

/** Who or what had it run, with the way there: of a webhook's run the delivery that it was an attempt of. */
function Origin({ home, run: { initiator, webhookId, deliveryId } }: Readonly<{ home: JobPlace["home"]; run: Run }>) {
  if (webhookId && deliveryId)
    return (
      <Link prefetch={false} className="link" href={`${webhookPath(home, webhookId)}?delivery=${deliveryId}`}>
        a delivery of a webhook
      </Link>
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
  return initiator.name ?? "somebody who is gone";
}

function Environment({ run: { spec, secretNames } }: Readonly<{ run: Run }>) {
  const variables = Object.entries(spec.environment);
  if (variables.length === 0 && secretNames.length === 0) return null;
  return (
    <SectionCard
      title="Environment"
      description={
        <>
          What the command was given besides{" "}
          <Link prefetch={false} href="/docs/jobs#what-a-command-finds" className="link">
            what every job gets
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
            <span role="img" aria-label="A secret, which is not shown" className="text-muted">
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
      <dt className="text-muted text-small sm:py-0.5">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
