import { z } from "@hono/zod-openapi";
import { JOB_TIMEOUT_SECONDS, type JobAnswer, type JobSpec, type JobSpecAnswer, type ScheduledJobAnswer } from "@keyhook/sdk";
import type { Actor } from "#core/access/actor.ts";
import { createdByJson } from "#core/access/delegation.ts";
import type { JobNamespace } from "#core/jobs/find-job-namespace.ts";
import type { Run } from "#core/jobs/runs/run.ts";
import type { Schedule } from "#core/jobs/schedules/schedule.ts";

export const namespace = z.string().openapi({ description: "The user or organization that owns the job." });

const typeOf = (kind: string): string => (kind === "organization" ? "org" : kind);

const ownerJson = ({ kind, id, handle }: JobNamespace) => ({ id, name: handle, type: typeOf(kind) });

function specJson(spec: JobSpec): Omit<JobSpecAnswer, "secrets"> {
  const { dockerImage, spaceId, command, environment, flavor, network, timeoutSeconds = JOB_TIMEOUT_SECONDS, labels } = spec;
  return {
    ...(dockerImage && { dockerImage }),
    ...(spaceId && { spaceId }),
    ...{ command, arguments: spec.arguments, environment, flavor, network, timeoutSeconds, labels },
  };
}

/** Omits the names of secrets, because a list decrypts nothing. */
export function listedJobJson(run: Run, owner: JobNamespace, reader: Actor, now = new Date()): JobAnswer {
  const { id, createdAt, startedAt, finishedAt, stage, message, exitCode, initiator } = run;
  const seconds = (from: Date | null, to: Date | null) =>
    from && to && Math.max(0, Math.round((to.getTime() - from.getTime()) / 1000));
  const end = finishedAt ?? now;
  return {
    type: "job",
    id,
    attempts: 1,
    createdAt: createdAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    ...specJson(run.spec),
    status: { stage, message, failureCount: stage === "ERROR" ? 1 : 0, exitCode },
    durations: {
      schedulingSecs: seconds(createdAt, startedAt ?? end),
      runningSecs: seconds(startedAt, end),
      totalSecs: seconds(createdAt, end),
    },
    owner: ownerJson(owner),
    createdBy: createdByJson(run, reader),
    initiator: { ...initiator, type: typeOf(initiator.type) },
  };
}

export function jobJson(run: Run, owner: JobNamespace, reader: Actor): JobAnswer {
  return { ...listedJobJson(run, owner, reader), secrets: run.secretNames };
}

export function scheduledJobJson(
  { schedule, owner }: { schedule: Schedule; owner: JobNamespace },
  reader: Actor,
): ScheduledJobAnswer {
  const { id, createdAt, spec, secretNames, timezone, isSuspended, mayOverlap, lastRun, nextRunAt, message } = schedule;
  return {
    id,
    createdAt: createdAt.toISOString(),
    jobSpec: { ...specJson(spec), secrets: secretNames },
    schedule: schedule.schedule,
    timezone,
    suspend: isSuspended,
    concurrency: mayOverlap,
    status: {
      lastJob: lastRun && { id: lastRun.id, at: lastRun.at.toISOString() },
      nextJobRunAt: nextRunAt?.toISOString() ?? null,
      message,
    },
    owner: ownerJson(owner),
    createdBy: createdByJson(schedule, reader),
  };
}
