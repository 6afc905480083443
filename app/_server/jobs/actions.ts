"use server";

import { redirect } from "next/navigation";
import { cancelRun } from "#core/jobs/runs/cancel-run.ts";
import { duplicateRun, requestRun } from "#core/jobs/runs/request-run.ts";
import { createSchedule } from "#core/jobs/schedules/create-schedule.ts";
import { deleteSchedule } from "#core/jobs/schedules/delete-schedule.ts";
import { resumeSchedule } from "#core/jobs/schedules/resume-schedule.ts";
import { runScheduleNow } from "#core/jobs/schedules/run-schedule-now.ts";
import { suspendSchedule } from "#core/jobs/schedules/suspend-schedule.ts";
import type { FormState } from "../../_components/form-state.ts";
import { submitForm } from "../form.ts";
import { requestOrigin } from "../request-origin.ts";
import { findJobPlace } from "./find-job-place.ts";
import { inFormWords, submittedJob } from "./job-form.ts";
import { type JobHome, jobPath, schedulesPath } from "./job-paths.ts";

/*
 * Each action takes the owner of the page and the run or schedule as the browser gives them: whose it is, and whether the person may, is
 * core's decision.
 */

export async function runJobAction(home: JobHome, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { person, owner, home: name } = await findJobPlace(home);
    const { runId } = await inFormWords(requestRun(person, owner.handle, submittedJob(form), await requestOrigin()));
    redirect(jobPath(name, runId));
  });
}

export async function runAgainAction(home: JobHome, runId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findJobPlace(home);
    const again = await duplicateRun(person, owner.handle, runId, await requestOrigin());
    redirect(jobPath(name, again.runId));
  });
}

export async function cancelRunAction(home: JobHome, runId: string, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findJobPlace(home);
    await cancelRun(person, owner, runId, await requestOrigin());
    redirect(`${jobPath(name, runId)}?notice=cancelled`);
  });
}

export async function createScheduleAction(home: JobHome, _previous: FormState, data: FormData): Promise<FormState> {
  return submitForm(data, async (form) => {
    const { person, owner, home: name } = await findJobPlace(home);
    const every = form.text("every");
    const when = {
      schedule: every === "custom" ? form.text("schedule") : every,
      timezone: form.text("timezone"),
      mayOverlap: form.isTicked("overlap"),
    };
    const input = { ...submittedJob(form), ...when };
    await inFormWords(createSchedule(person, owner.handle, input, await requestOrigin()));
    redirect(`${schedulesPath(name)}?notice=created`);
  });
}

export async function setSuspendedAction(
  home: JobHome,
  scheduleId: string,
  isSuspended: boolean,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findJobPlace(home);
    const set = isSuspended === true ? suspendSchedule : resumeSchedule;
    await set(person, { namespace: owner.handle, scheduleId }, await requestOrigin());
    redirect(`${schedulesPath(name)}?notice=${isSuspended === true ? "suspended" : "resumed"}`);
  });
}

export async function runScheduleNowAction(
  home: JobHome,
  scheduleId: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findJobPlace(home);
    const { runId } = await runScheduleNow(person, { namespace: owner.handle, scheduleId }, await requestOrigin());
    redirect(jobPath(name, runId));
  });
}

export async function deleteScheduleAction(
  home: JobHome,
  scheduleId: string,
  _previous: FormState,
  data: FormData,
): Promise<FormState> {
  return submitForm(data, async () => {
    const { person, owner, home: name } = await findJobPlace(home);
    await deleteSchedule(person, { namespace: owner.handle, scheduleId }, await requestOrigin());
    redirect(`${schedulesPath(name)}?notice=deleted`);
  });
}
