import { CalendarClock } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { listSchedules } from "#core/jobs/schedules/find-schedule.ts";
import type { Schedule } from "#core/jobs/schedules/schedule.ts";
import { deleteScheduleAction, runScheduleNowAction, setSuspendedAction } from "../../_server/jobs/actions.ts";
import { findJobsPage } from "../../_server/jobs/find-jobs-page.ts";
import type { OwnerPageProps } from "../../_server/owner-page.ts";
import { hrefWith, noticeOf, textOf } from "../../_server/page-query.ts";
import { jobListPath, jobPath, type OwnerName, schedulesPath } from "../../_server/paths.ts";
import { ActionButton } from "../action-form.client.tsx";
import { ButtonLink } from "../button.tsx";
import { Chip } from "../chip.tsx";
import { ConfirmDestructive } from "../details-form.client.tsx";
import { EmptyState, ListPage, ListRow } from "../list.tsx";
import { MadeWith } from "../made-with.tsx";
import { RelativeTime } from "../relative-time.tsx";
import { imageOrSpaceOf, RunnerNotice, StageChip, startOfCommand } from "./run-facts.tsx";

export const metadata: Metadata = { title: "Schedules" };

const notices: Readonly<Record<string, string>> = {
  created: "Schedule created. Run it now to check that it works.",
  suspended: "Schedule suspended. It starts no runs until you resume it; you can still run it now.",
  resumed: "Schedule resumed. It now runs with your permissions.",
  deleted: "Schedule deleted. Its past runs are kept.",
};

export async function ScheduleListPage({ params, searchParams }: OwnerPageProps) {
  const [{ org = null }, query] = await Promise.all([params, searchParams]);
  const { person, owner, home } = await findJobsPage(org);
  const path = schedulesPath(home);
  const schedules = await listSchedules(person, owner.handle, { page: Number(textOf(query.page)) });
  const create = (
    <ButtonLink variant="primary" href={`${path}/new`}>
      New schedule
    </ButtonLink>
  );
  return (
    <ListPage
      trail={[{ href: jobListPath(home), label: "Jobs" }]}
      title="Schedules"
      description="Recurring jobs. Each runs with the permissions of the person, app or token that created, last changed or resumed it."
      actions={schedules.total > 0 && create}
      notice={noticeOf(notices, query.notice)}
      label="Schedules"
      things="schedules"
      list={schedules}
      hrefOf={(page) => hrefWith(path, { page })}
      row={(schedule) => <ScheduleRow key={schedule.id} schedule={schedule} home={home} />}
      empty={
        // A page may be empty although there are schedules, because a schedule with a large spec counts as several.
        <EmptyState
          Icon={CalendarClock}
          title={schedules.total > 0 ? "This page is empty" : "No schedules yet"}
          action={schedules.total > 0 ? <ButtonLink href={path}>First page</ButtonLink> : create}
        >
          A schedule runs a job at the times you choose, such as every hour or every Monday at nine.
        </EmptyState>
      }
    >
      <RunnerNotice />
    </ListPage>
  );
}

function ScheduleRow({ schedule: one, home }: Readonly<{ schedule: Schedule; home: OwnerName }>) {
  const { id, spec, schedule, timezone, isSuspended, message, nextRunAt, lastRun } = one;
  const command = startOfCommand(spec);
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
          <code>{schedule}</code> {timezone} · {imageOrSpaceOf(spec)}
          {nextRunAt && (
            <>
              {" "}
              · next run <RelativeTime at={nextRunAt} />
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
              last run <RelativeTime at={lastRun.at} />
            </span>
            <StageChip stage={lastRun.stage} />
          </Link>
        )
      }
    >
      <div className="mt-2 flex flex-wrap items-start gap-2">
        <ActionButton action={runScheduleNowAction.bind(null, home, id)} label={`Run ${command} now`}>
          Run now
        </ActionButton>
        <ActionButton
          action={setSuspendedAction.bind(null, home, id, !isSuspended)}
          label={`${isSuspended ? "Resume" : "Suspend"} ${command}`}
        >
          {isSuspended ? "Resume" : "Suspend"}
        </ActionButton>
        <ConfirmDestructive
          action={deleteScheduleAction.bind(null, home, id)}
          trigger="Delete"
          title={`Delete the schedule of ${command}?`}
          confirm="Delete this schedule"
          size="small"
          isQuiet
        >
          No more runs will start. Past runs are kept.
        </ConfirmDestructive>
      </div>
    </ListRow>
  );
}
