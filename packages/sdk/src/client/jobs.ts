import { z } from "zod";
import {
  type JobAnswer,
  jobAnswerSchema,
  type jobBodySchema,
  type ScheduledJobAnswer,
  type scheduleBodySchema,
  scheduledJobAnswerSchema,
  type scheduledJobBodySchema,
} from "../jobs.ts";
import { type Asked, type OwnName, part, type Whose } from "./addresses.ts";
import { followJobLog, type JobLogLine } from "./job-log.ts";
import type { Paged } from "./paged.ts";
import type { Transport } from "./transport.ts";

/** A job to run. @group Client @useDeclaredType */
export type NewJob = z.input<typeof jobBodySchema>;
/** A schedule to create. @group Client @useDeclaredType */
export type NewSchedule = z.input<typeof scheduledJobBodySchema>;
/** The times at which a schedule runs. @group Client @useDeclaredType */
export type ScheduleTimes = z.input<typeof scheduleBodySchema>;
/** A filter of the jobs to list: a job must be in one of the stages and have all of the labels. @group Client */
export type JobSearch = { stage?: string | string[]; labels?: Record<string, string>; limit?: number };

const hardwareSchema = z.object({
  name: z.string(),
  prettyName: z.string(),
  cpu: z.string(),
  ram: z.string(),
  ephemeralStorage: z.string(),
});
/** A flavor: a machine size that a job may request. @group Client @useDeclaredType */
export type JobHardware = z.infer<typeof hardwareSchema>;

/**
 * The operations of `client.jobs`, on jobs and schedules.
 *
 * These are the caller's jobs or, with `{ organization }`, that organization's. The token needs the scope `jobs`.
 * @group Client @useDeclaredType
 */
export type JobsClient = ReturnType<typeof jobsOf>;

export function jobsOf(transport: Transport, ownName: OwnName) {
  const { request, pages } = transport;
  const namespace = async ({ organization, signal }: Whose) => part(organization ?? (await ownName({ signal })));
  const at = async (whose: Whose, id?: string, rest = "") =>
    `/api/jobs/${await namespace(whose)}${id === undefined ? "" : `/${part(id)}`}${rest}`;
  const scheduleAt = async (whose: Whose, id?: string, rest = "") =>
    `/api/scheduled-jobs/${await namespace(whose)}${id === undefined ? "" : `/${part(id)}`}${rest}`;
  const schema = jobAnswerSchema;
  const ofSchedule = scheduledJobAnswerSchema;
  const get = async (id: string, whose: Whose = {}): Promise<JobAnswer> =>
    request("GET", await at(whose, id), { schema, signal: whose.signal });

  return {
    /** Starts a job. Next, `logs` follows it and `get` reads its state. */
    run: async (job: NewJob, whose: Whose = {}): Promise<JobAnswer> =>
      request("POST", await at(whose), { body: job, schema, signal: whose.signal }),

    /** Lists jobs, newest first. */
    list: ({ stage, labels = {}, limit }: JobSearch = {}, whose: Whose = {}): Paged<JobAnswer> =>
      pages(() => at(whose), {
        query: { stage, limit, label: Object.entries(labels).map(([name, value]) => `${name}=${value}`) },
        schema: z.array(schema),
        signal: whose.signal,
      }),

    /** Reads one job with its state. @throws {@link ApiError} with status 404 */
    get,

    /**
     * Follows a job's log until the job has ended: from the first line, or with `tail` from that many lines before the end. Reconnects when
     * the connection is lost, and returns no line twice. Next, `get` has the exit code.
     */
    logs: (id: string, { tail, ...whose }: Whose & { tail?: number } = {}): AsyncIterable<JobLogLine> =>
      followJobLog(transport, { path: () => at(whose, id, "/logs"), read: () => get(id, whose), tail, signal: whose.signal }),

    /** Stops a job. A job that has ended does not change. */
    cancel: async (id: string, whose: Whose = {}): Promise<JobAnswer> =>
      request("POST", await at(whose, id, "/cancel"), { schema, signal: whose.signal, isIdempotent: true }),

    /** Runs the same job again, with its secrets. */
    duplicate: async (id: string, whose: Whose = {}): Promise<JobAnswer> =>
      request("POST", await at(whose, id, "/duplicate"), { schema, signal: whose.signal }),

    /** Replaces all labels of a job. */
    updateLabels: async (id: string, labels: Record<string, string>, whose: Whose = {}): Promise<JobAnswer> =>
      request("PUT", await at(whose, id, "/labels"), { body: { labels }, schema, signal: whose.signal }),

    /** Lists the flavors that a job may request. */
    hardware: ({ signal }: Asked = {}): Promise<JobHardware[]> =>
      request("GET", "/api/jobs/hardware", { schema: z.array(hardwareSchema), signal }),

    /** Recurring jobs. */
    schedules: {
      /** Creates a schedule, which runs in the caller's name. */
      create: async (schedule: NewSchedule, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("POST", await scheduleAt(whose), { body: schedule, schema: ofSchedule, signal: whose.signal }),

      /** Lists the schedules. */
      list: (whose: Whose = {}): Paged<ScheduledJobAnswer> =>
        pages(() => scheduleAt(whose), { schema: z.array(ofSchedule), signal: whose.signal }),

      /** Reads one schedule. */
      get: async (id: string, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("GET", await scheduleAt(whose, id), { schema: ofSchedule, signal: whose.signal }),

      /** Suspends a schedule: it starts no runs by itself until you resume it. */
      suspend: async (id: string, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("POST", await scheduleAt(whose, id, "/suspend"), {
          schema: ofSchedule,
          signal: whose.signal,
          isIdempotent: true,
        }),

      /** Resumes a schedule, from now on in the caller's name. */
      resume: async (id: string, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("POST", await scheduleAt(whose, id, "/resume"), { schema: ofSchedule, signal: whose.signal, isIdempotent: true }),

      /** Changes when a schedule runs, from now on in the caller's name. */
      update: async (id: string, times: ScheduleTimes, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("POST", await scheduleAt(whose, id, "/schedule"), {
          body: times,
          schema: ofSchedule,
          signal: whose.signal,
          isIdempotent: true,
        }),

      /** Runs a schedule's job once, now. */
      run: async (id: string, whose: Whose = {}): Promise<JobAnswer> =>
        request("POST", await scheduleAt(whose, id, "/run"), { schema, signal: whose.signal }),

      /** Deletes a schedule. Its runs stay. */
      async delete(id: string, whose: Whose = {}): Promise<void> {
        await request("DELETE", await scheduleAt(whose, id), { signal: whose.signal });
      },
    },
  };
}
