import { CalendarClock } from "lucide-react";
import Link from "next/link";
import { listSchedules } from "#core/jobs/schedules/list-schedules.ts";
import type { Schedule } from "#core/jobs/schedules/schedule.ts";
import { deleteScheduleAction, runScheduleNowAction, setSuspendedAction } from "../../_server/jobs/actions.ts";
import type { JobPlace } from "../../_server/jobs/find-job-place.ts";
import { jobListPath, jobPath, schedulesPath } from "../../_server/jobs/job-paths.ts";
import { noticeOf, textOf } from "../../_server/page-query.ts";
import { ActionForm } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { Card } from "../card.tsx";
import { Chip } from "../chip.tsx";
import { ConfirmDestructive } from "../confirm-destructive.client.tsx";
import { EmptyState } from "../empty-state.tsx";
import { FormMessage } from "../form-message.tsx";
import { List, ListRow } from "../list.tsx";
import { MadeWith } from "../made-with.tsx";
import { PageHeader } from "../page-header.tsx";
import { Pagination } from "../pagination.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { SubmitButton } from "../submit-button.client.tsx";
import { commandOf, placeOf } from "./run-facts.ts";
import { RunnerNotice } from "./runner-notice.tsx";
import { StageChip } from "./stage-chip.tsx";

export type ScheduleListPageProps = Readonly<{
  place: JobPlace;
  query: Readonly<Record<string, string | string[] | undefined>>;
}>;

const notices: Readonly<Record<string, string>> = {
  created: "Scheduled. Run it now to see that it works.",
  suspended: "Suspended. It starts no more runs until it is resumed.",
  resumed: "Resumed. It runs in your name from now on.",
  deleted: "Deleted. The jobs that it ran stay.",
};

/** The schedules of a person or an organization. */
export async function ScheduleListPage({ place: { person, owner, home }, query }: ScheduleListPageProps) {
  const path = schedulesPath(home);
  const page = await listSchedules(person, owner.handle, { page: Number(textOf(query.page)) });
  const notice = noticeOf(notices, query.notice);
  const create = (
    <ButtonLink variant="primary" href={`${path}/new`}>
      New schedule
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        trail={[{ href: jobListPath(home), label: "Jobs" }]}
        title="Schedules"
        description="Jobs that run again and again. Each runs with the rights of whoever made or resumed it, for as long as they have them."
        actions={page.total > 0 && create}
      />
      <div className="grid grid-cols-1 gap-5">
        <RunnerNotice />
        {notice && <FormMessage tone="good">{notice}</FormMessage>}
        <Card>
          {page.items.length === 0 ? (
            <EmptyState
              Icon={CalendarClock}
              title={page.total > 0 ? "There is nothing on this page" : "No schedules yet"}
              action={page.total > 0 ? <ButtonLink href={path}>First page</ButtonLink> : create}
            >
              A schedule runs a job every hour, every Monday at nine, or whenever you say. Its runs are listed with all other
              jobs.
            </EmptyState>
          ) : (
            <List label="Schedules">
              {page.items.map((schedule) => (
                <ScheduleRow key={schedule.id} schedule={schedule} home={home} />
              ))}
            </List>
          )}
        </Card>
      </div>
      <Pagination label="schedules" {...page} hrefOf={(at) => `${path}?page=${at}`} />
    </>
  );
}

function ScheduleRow({ schedule: one, home }: Readonly<{ schedule: Schedule; home: JobPlace["home"] }>) {
  const { id, spec, schedule, timezone, isSuspended, message, nextRunAt, lastRun } = one;
  const command = commandOf(spec);
  return (
    <ListRow
      title={
        <>
          <span className="min-w-0 break-all font-mono text-small">{command}</span>
          {isSuspended && <Chip tone="warn">Suspended</Chip>}
        </>
      }
      meta={
        <>
          <code>{schedule}</code> {timezone} · {placeOf(spec)}
          {nextRunAt && (
            <>
              {" "}
              · next <RelativeTime at={nextRunAt} />
            </>
          )}
          {one.madeWith && (
            <span className="block">
              <MadeWith madeWith={one.madeWith} />
            </span>
          )}
          {message && <span className="block text-warn">{message}</span>}
        </>
      }
      trailing={
        lastRun && (
          <Link prefetch={false} href={jobPath(home, lastRun.id)} className="flex items-center gap-2 text-small">
            <span className="text-muted">
              last <RelativeTime at={lastRun.at} />
            </span>
            <StageChip stage={lastRun.stage} />
          </Link>
        )
      }
    >
      <div className="mt-2 flex flex-wrap items-start gap-2">
        <ActionForm action={runScheduleNowAction.bind(null, home, id)} label={`Run ${command} now`}>
          <SubmitButton variant="secondary" size="small">
            Run now
          </SubmitButton>
        </ActionForm>
        <ActionForm
          action={setSuspendedAction.bind(null, home, id, !isSuspended)}
          label={`${isSuspended ? "Resume" : "Suspend"} ${command}`}
        >
          <SubmitButton variant="secondary" size="small">
            {isSuspended ? "Resume" : "Suspend"}
          </SubmitButton>
        </ActionForm>
        <ConfirmDestructive
          action={deleteScheduleAction.bind(null, home, id)}
          trigger="Delete"
          title={`Delete the schedule of ${command}?`}
          confirm="Delete this schedule"
          size="small"
          isQuiet
        >
          It starts no more runs. The jobs that it ran stay.
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}
