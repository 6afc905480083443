import { z } from "zod";

/** A name of an environment variable. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/, "must be letters, digits and underscores");
/** What a process is started with holds no NUL. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes("\0"), "must not hold NUL characters")
    .refine((value) => !/\p{Surrogate}/u.test(value), "must not hold half of a character");

/** Of variables, of secrets, and of labels. */
const ENTRIES_MAX = 1_000;
const atMost = <Entries extends z.ZodRecord>(max: number, entries: Entries) =>
  entries
    .refine((value) => Object.keys(value as object).length <= max, `must have at most ${max} entries`)
    .meta({ maxProperties: max });

/** Limits of a job's spec, in characters, entries and seconds. */
export const JOB_TIMEOUT_SECONDS = 30 * 60;
export const JOB_TIMEOUT_MAX_SECONDS = 24 * 60 * 60;

/** What runs: an image or a Space, a command, and with what (docs/specification/jobs-and-spaces.md#a-jobs-body). */
export const jobSpecSchema = z.object({
  dockerImage: text(500).min(1).optional(),
  /** `owner/name` of a Space, whose files the command finds in its working directory. */
  spaceId: z
    .string()
    .regex(/^[^/\s]+\/[^/\s]+$/, "must be owner/name")
    .max(200)
    .optional(),
  command: z.array(text(8_192)).max(100).default([]),
  arguments: z.array(text(8_192)).max(100).default([]),
  environment: atMost(ENTRIES_MAX, z.record(variable, text(32_768))).default({}),
  flavor: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .default("cpu-basic"),
  /** Whether it may reach the network, where the operator lets jobs (JOBS_NETWORK). */
  network: z.boolean().default(false),
  timeoutSeconds: z.number().int().min(1).max(JOB_TIMEOUT_MAX_SECONDS).optional(),
  labels: atMost(
    ENTRIES_MAX,
    z.record(z.string().regex(/^[A-Za-z0-9._-]{1,100}$/), z.string().regex(/^[A-Za-z0-9._-]{0,100}$/)),
  ).default({}),
});
export type JobSpec = z.infer<typeof jobSpecSchema>;

/** Values that are kept sealed and masked in logs (S134). */
export const jobSecretsSchema = atMost(ENTRIES_MAX, z.record(variable, text(32_768)));

// ---- the HTTP API (docs/specification/jobs-and-spaces.md#jobs) -------------------------------------------------------------

/** What the public hub's runs may have and ours do not: left out or empty it asks for nothing, and anything else is refused by name. */
const absent = (what: string) =>
  z
    .unknown()
    .optional()
    .refine(isEmpty, `${what} ${what.endsWith("s") ? "are" : "is"} not offered here; leave it out`);

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  if (typeof value !== "object") return false;
  // `{enabled: false}`, `{ports: []}`, `[]`.
  return Object.values(value).every(isEmpty);
}

/** `POST /api/jobs/{namespace}`; what a schedule repeats as well. A flavor must be named, null is as good as left out elsewhere. */
export const jobBodySchema = z
  .object({
    dockerImage: jobSpecSchema.shape.dockerImage.nullish(),
    spaceId: jobSpecSchema.shape.spaceId.nullish(),
    command: z.array(text(8_192)).max(100).nullish(),
    arguments: z.array(text(8_192)).max(100).nullish(),
    environment: atMost(ENTRIES_MAX, z.record(variable, text(32_768))).nullish(),
    secrets: jobSecretsSchema.nullish(),
    flavor: z.string().regex(/^[a-z0-9-]{1,40}$/, "must be the name of a flavor"),
    /** Ours: whether it may reach the network, where the operator lets jobs. */
    network: z.boolean().nullish(),
    timeoutSeconds: z.number().int().min(1).max(JOB_TIMEOUT_MAX_SECONDS).nullish(),
    labels: jobSpecSchema.shape.labels.unwrap().nullish(),
    /** How often the public hub tries a run that fails; here it is tried once. */
    attempts: z.literal(1, "must be 1: a run is not tried again by itself").nullish(),
    volumes: absent("volumes"),
    expose: absent("expose"),
    ssh: absent("ssh"),
    arch: absent("arch"),
    resourceGroupId: absent("resourceGroupId"),
  })
  .refine(({ dockerImage, spaceId }) => Boolean(dockerImage) !== Boolean(spaceId), {
    message: "name either an image or a Space",
    path: ["dockerImage"],
  });
export type JobBody = z.infer<typeof jobBodySchema>;

/** The body as the spec that is kept, and the secrets that are sealed apart from it. */
export function jobSpecOf(body: JobBody): { spec: JobSpec; secrets: Record<string, string> } {
  const { dockerImage, spaceId, timeoutSeconds, flavor } = body;
  return {
    spec: {
      ...(dockerImage && { dockerImage }),
      ...(spaceId && { spaceId }),
      command: body.command ?? [],
      arguments: body.arguments ?? [],
      environment: body.environment ?? {},
      flavor,
      network: body.network ?? false,
      ...(timeoutSeconds && { timeoutSeconds }),
      labels: body.labels ?? {},
    },
    secrets: body.secrets ?? {},
  };
}

const named = z.object({ id: z.string(), name: z.string(), type: z.string() });

/**
 * Who made something that acts later: a person on the pages, an app with the person's permission, or a personal access token. What an app
 * or a token made reaches no more than they do, and ends with their access.
 */
export const createdBySchema = z.object({
  type: z.enum(["user", "app", "token"]),
  /** Of the user for whom it acts; null for one who is gone. */
  userId: z.string().nullable(),
  /** Of an app. An app is not told which other app it was. */
  clientId: z.string().optional(),
  /** Of an app or a token that is still there; an app is told its own only. */
  name: z.string().optional(),
});
export type CreatedBy = z.infer<typeof createdBySchema>;

/** A spec in an answer: secrets by name only (S134). */
export const jobSpecAnswerSchema = z.object({
  dockerImage: z.string().optional(),
  spaceId: z.string().optional(),
  command: z.array(z.string()),
  arguments: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  secrets: z.array(z.string()),
  flavor: z.string(),
  network: z.boolean(),
  timeoutSeconds: z.number(),
  labels: z.record(z.string(), z.string()),
});
export type JobSpecAnswer = z.infer<typeof jobSpecAnswerSchema>;

/** A run, which the public hub calls a job. `initiator.type`: user, org, scheduled-job, duplicated-job or webhook. */
export const jobAnswerSchema = jobSpecAnswerSchema.extend({
  type: z.literal("job"),
  /** Left out in lists. */
  secrets: z.array(z.string()).optional(),
  /** A run is tried once. */
  attempts: z.literal(1),
  id: z.string(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  status: z.object({
    stage: z.string(),
    message: z.string().nullable(),
    failureCount: z.number(),
    /** Ours: of the command, once it has ended. */
    exitCode: z.number().nullable(),
  }),
  durations: z.object({
    schedulingSecs: z.number().nullable(),
    runningSecs: z.number().nullable(),
    totalSecs: z.number().nullable(),
  }),
  owner: named,
  createdBy: createdBySchema,
  initiator: z.object({ type: z.string(), id: z.string(), name: z.string().optional() }),
});
export type JobAnswer = z.infer<typeof jobAnswerSchema>;

/** `PUT …/labels`: all of them, in place of those that there were. */
export const jobLabelsBodySchema = z.object({ labels: jobSpecSchema.shape.labels.unwrap() });

/** A cron line of five fields or one of `@yearly`, `@monthly`, `@weekly`, `@daily`, `@hourly`, in a time zone of the IANA's list. */
const schedule = z.string().max(200);
const timezone = z.string().max(100);

/** `POST /api/scheduled-jobs/{namespace}` */
export const scheduledJobBodySchema = z.object({
  jobSpec: jobBodySchema,
  schedule,
  timezone: timezone.nullish(),
  /** Whether a run may start while the last one goes on. */
  concurrency: z.boolean().nullish(),
  suspend: z.boolean().nullish(),
});
/** `POST …/schedule` */
export const scheduleBodySchema = z.object({
  schedule,
  timezone: timezone.nullish(),
  concurrency: z.boolean().nullish(),
});

export const scheduledJobAnswerSchema = z.object({
  id: z.string(),
  createdAt: z.string(),
  jobSpec: jobSpecAnswerSchema,
  schedule: z.string(),
  timezone: z.string(),
  suspend: z.boolean(),
  concurrency: z.boolean(),
  status: z.object({
    lastJob: z.object({ id: z.string(), at: z.string() }).nullable(),
    nextJobRunAt: z.string().nullable(),
    /** Why it did not run when it was due, or was suspended by itself. */
    message: z.string().nullable(),
  }),
  owner: named,
  createdBy: createdBySchema,
});
export type ScheduledJobAnswer = z.infer<typeof scheduledJobAnswerSchema>;
