"use server";

import { redirect } from "next/navigation";
import { cancelRun } from "#core/jobs/runs/change-run.ts";
import { duplicateRun, requestRun } from "#core/jobs/runs/request-run.ts";
import { createSchedule, deleteSchedule, resumeSchedule, suspendSchedule } from "#core/jobs/schedules/change-schedule.ts";
import { runScheduleNow } from "#core/jobs/schedules/start-due-run.ts";
import { formAction, type Scope, text } from "../form-action.ts";
import type { OwnerPage } from "../owner-page.ts";
import { jobPath, type OwnerName, schedulesPath } from "../paths.ts";
import { findJobsPage } from "./find-jobs-page.ts";
import { submittedJob, withFormFieldNames } from "./job-form.ts";

/** core decides whether the user may act on the run or the schedule. */
const jobScope: Scope<[home: OwnerName], OwnerPage> = { argumentCount: 1, enter: (_form, home) => findJobsPage(home) };

export const runJobAction = formAction(jobScope, { job: submittedJob }, async ({ person, owner, home, input, from }) => {
  const { runId } = await withFormFieldNames(requestRun(person, owner.handle, input.job, from));
  redirect(jobPath(home, runId));
});

export const runAgainAction = formAction(jobScope, {}, async ({ person, owner, home, from }, runId: string) => {
  const again = await duplicateRun(person, owner.handle, runId, from);
  redirect(jobPath(home, again.runId));
});

export const cancelRunAction = formAction(jobScope, {}, async ({ person, owner, home, from }, runId: string) => {
  await cancelRun(person, owner, runId, from);
  redirect(`${jobPath(home, runId)}?notice=cancelled`);
});

export const createScheduleAction = formAction(
  jobScope,
  {
    job: submittedJob,
    schedule: (form) => (form.text("every") === "custom" ? form.text("schedule") : form.text("every")),
    timezone: text,
    mayOverlap: (form) => form.isTicked("overlap"),
  },
  async ({ person, owner, home, input: { job, ...when }, from }) => {
    await withFormFieldNames(createSchedule(person, owner.handle, { ...job, ...when }, from));
    redirect(`${schedulesPath(home)}?notice=created`);
  },
);

export const setSuspendedAction = formAction(
  jobScope,
  {},
  async ({ person, owner, home, from }, scheduleId: string, isSuspended: boolean) => {
    const set = isSuspended === true ? suspendSchedule : resumeSchedule;
    await set(person, { namespace: owner.handle, scheduleId }, from);
    redirect(`${schedulesPath(home)}?notice=${isSuspended === true ? "suspended" : "resumed"}`);
  },
);

export const runScheduleNowAction = formAction(jobScope, {}, async ({ person, owner, home, from }, scheduleId: string) => {
  const { runId } = await runScheduleNow(person, { namespace: owner.handle, scheduleId }, from);
  redirect(jobPath(home, runId));
});

export const deleteScheduleAction = formAction(jobScope, {}, async ({ person, owner, home, from }, scheduleId: string) => {
  await deleteSchedule(person, { namespace: owner.handle, scheduleId }, from);
  redirect(`${schedulesPath(home)}?notice=deleted`);
});
