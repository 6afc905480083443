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
import { followJobLog, type JobLogLine } from "./job-log.ts";
import type { Paged } from "./paged.ts";
import type { Transport } from "./transport.ts";
import { type Asked, type OwnName, part, type Whose } from "./whose.ts";

export type NewJob = z.input<typeof jobBodySchema>;
export type NewSchedule = z.input<typeof scheduledJobBodySchema>;
export type ScheduleTimes = z.input<typeof scheduleBodySchema>;
/** `stage`: those in any of them; `labels`: those that have all of them. */
export type JobSearch = { stage?: string | string[]; labels?: Record<string, string>; limit?: number };

const hardwareSchema = z.object({
  name: z.string(),
  prettyName: z.string(),
  cpu: z.string(),
  ram: z.string(),
  ephemeralStorage: z.string(),
});
export type JobHardware = z.infer<typeof hardwareSchema>;

/** On the caller's own account, or with `{ organization }` on an organization's. The token takes the scope `jobs`. */
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
    run: async (job: NewJob, whose: Whose = {}): Promise<JobAnswer> =>
      request("POST", await at(whose), { body: job, schema, signal: whose.signal }),

    /** The newest first. */
    list: ({ stage, labels = {}, limit }: JobSearch = {}, whose: Whose = {}): Paged<JobAnswer> =>
      pages(() => at(whose), {
        query: { stage, limit, label: Object.entries(labels).map(([name, value]) => `${name}=${value}`) },
        schema: z.array(schema),
        signal: whose.signal,
      }),

    get,

    /**
     * The lines of its log, from the first or the last `tail` ones, until the job is over. A connection that drops is taken up again, and
     * no line comes twice.
     */
    logs: (id: string, { tail, ...whose }: Whose & { tail?: number } = {}): AsyncIterable<JobLogLine> =>
      followJobLog(transport, { path: () => at(whose, id, "/logs"), read: () => get(id, whose), tail, signal: whose.signal }),

    /** One that is over stays as it is. */
    cancel: async (id: string, whose: Whose = {}): Promise<JobAnswer> =>
      request("POST", await at(whose, id, "/cancel"), { schema, signal: whose.signal, isIdempotent: true }),

    /** Runs it again, with its secrets. */
    duplicate: async (id: string, whose: Whose = {}): Promise<JobAnswer> =>
      request("POST", await at(whose, id, "/duplicate"), { schema, signal: whose.signal }),

    /** Puts other labels in the place of those that it has. */
    updateLabels: async (id: string, labels: Record<string, string>, whose: Whose = {}): Promise<JobAnswer> =>
      request("PUT", await at(whose, id, "/labels"), { body: { labels }, schema, signal: whose.signal }),

    /** The flavors that a job may ask for. */
    hardware: ({ signal }: Asked = {}): Promise<JobHardware[]> =>
      request("GET", "/api/jobs/hardware", { schema: z.array(hardwareSchema), signal }),

    schedules: {
      create: async (schedule: NewSchedule, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("POST", await scheduleAt(whose), { body: schedule, schema: ofSchedule, signal: whose.signal }),

      list: (whose: Whose = {}): Paged<ScheduledJobAnswer> =>
        pages(() => scheduleAt(whose), { schema: z.array(ofSchedule), signal: whose.signal }),

      get: async (id: string, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("GET", await scheduleAt(whose, id), { schema: ofSchedule, signal: whose.signal }),

      /** Starts no more runs. */
      suspend: async (id: string, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("POST", await scheduleAt(whose, id, "/suspend"), {
          schema: ofSchedule,
          signal: whose.signal,
          isIdempotent: true,
        }),

      /** Starts runs again, from now on in the caller's name. */
      resume: async (id: string, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("POST", await scheduleAt(whose, id, "/resume"), { schema: ofSchedule, signal: whose.signal, isIdempotent: true }),

      /** Changes when it runs. */
      update: async (id: string, times: ScheduleTimes, whose: Whose = {}): Promise<ScheduledJobAnswer> =>
        request("POST", await scheduleAt(whose, id, "/schedule"), {
          body: times,
          schema: ofSchedule,
          signal: whose.signal,
          isIdempotent: true,
        }),

      /** Once, now. */
      run: async (id: string, whose: Whose = {}): Promise<JobAnswer> =>
        request("POST", await scheduleAt(whose, id, "/run"), { schema, signal: whose.signal }),

      /** Its runs stay. */
      async delete(id: string, whose: Whose = {}): Promise<void> {
        await request("DELETE", await scheduleAt(whose, id), { signal: whose.signal });
      },
    },
  };
}
