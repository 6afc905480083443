import { z } from "zod";

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/, "must be letters, digits and underscores, and must not begin with a digit");
/** The arguments and variables of a process cannot contain NUL. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes("\0"), "must not contain NUL characters")
    .refine((value) => !/\p{Surrogate}/u.test(value), "must be valid Unicode text");

/** The maximum number of variables, of secrets and of labels. */
const ENTRIES_MAX = 1_000;
const atMost = <Entries extends z.ZodRecord>(max: number, entries: Entries) =>
  entries
    .refine((value) => Object.keys(value as object).length <= max, `must have at most ${max} entries`)
    .meta({ maxProperties: max });

/** The time limit of a job whose spec has none. @group Jobs */
export const JOB_TIMEOUT_SECONDS = 30 * 60;
/** The longest time limit. @group Jobs */
export const JOB_TIMEOUT_MAX_SECONDS = 24 * 60 * 60;

/**
 * The spec of a job: what it runs (an image or a Space, and a command), with which environment and resources
 * (docs/specification/jobs-and-spaces.md#a-jobs-body).
 * @group Jobs
 */
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
  /** Whether the job has network access, if the operator allows that for jobs (JOBS_NETWORK). */
  network: z.boolean().default(false),
  timeoutSeconds: z.number().int().min(1).max(JOB_TIMEOUT_MAX_SECONDS).optional(),
  labels: atMost(
    ENTRIES_MAX,
    z.record(z.string().regex(/^[A-Za-z0-9._-]{1,100}$/), z.string().regex(/^[A-Za-z0-9._-]{0,100}$/)),
  ).default({}),
});
export type JobSpec = z.infer<typeof jobSpecSchema>;

/** Values that are stored encrypted and masked in logs (S134). @group Jobs */
export const jobSecretsSchema = atMost(ENTRIES_MAX, z.record(variable, text(32_768)));

// ---- the HTTP API (docs/specification/jobs-and-spaces.md#jobs) -------------------------------------------------------------

/** Options of the public hub that this service does not have. They may be absent or empty, and are otherwise refused by name. */
const absent = (what: string) =>
  z
    .unknown()
    .optional()
    .refine(isEmpty, `${what} ${what.endsWith("s") ? "are" : "is"} not offered here; leave the field out`);

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  if (typeof value !== "object") return false;
  // `{enabled: false}`, `{ports: []}` and `[]` count as empty.
  return Object.values(value).every(isEmpty);
}

/**
 * The body of `POST /api/jobs/{namespace}`, and the job in the body of a schedule. `flavor` is required. In all other fields, null means
 * absent.
 * @group Jobs
 */
export const jobBodySchema = z
  .object({
    dockerImage: jobSpecSchema.shape.dockerImage.nullish(),
    spaceId: jobSpecSchema.shape.spaceId.nullish(),
    command: z.array(text(8_192)).max(100).nullish(),
    arguments: z.array(text(8_192)).max(100).nullish(),
    environment: atMost(ENTRIES_MAX, z.record(variable, text(32_768))).nullish(),
    secrets: jobSecretsSchema.nullish(),
    flavor: z.string().regex(/^[a-z0-9-]{1,40}$/, "must be the name of a flavor"),
    /** Exists only in this service: whether the job has network access, if the operator allows that for jobs. */
    network: z.boolean().nullish(),
    timeoutSeconds: z.number().int().min(1).max(JOB_TIMEOUT_MAX_SECONDS).nullish(),
    labels: jobSpecSchema.shape.labels.unwrap().nullish(),
    /** How many times the public hub attempts a run that fails. This service makes one attempt. */
    attempts: z.literal(1, "must be 1: jobs are not retried automatically").nullish(),
    volumes: absent("volumes"),
    expose: absent("expose"),
    ssh: absent("ssh"),
    arch: absent("arch"),
    resourceGroupId: absent("resourceGroupId"),
  })
  .refine(({ dockerImage, spaceId }) => Boolean(dockerImage) !== Boolean(spaceId), {
    message: "send either an image or a Space",
    path: ["dockerImage"],
  });
export type JobBody = z.infer<typeof jobBodySchema>;

/** Splits the body into the spec, which is stored unencrypted, and the secrets, which are encrypted. @group Jobs */
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
 * The creator of something that acts later (a webhook, a schedule): a person on the pages, an app with a person's permission,
 * or a personal access token. What an app or a token created has at most the creator's rights and ends with the creator's access.
 * @group Jobs
 */
export const createdBySchema = z.object({
  type: z.enum(["user", "app", "token"]),
  /** The user in whose name it acts; null if the account was deleted. */
  userId: z.string().nullable(),
  /** The app's client ID. It is not shown to another app. */
  clientId: z.string().optional(),
  /** The name of the app or token, if it still exists. An app sees only its own name. */
  name: z.string().optional(),
});
export type CreatedBy = z.infer<typeof createdBySchema>;

/** A spec in a response. It contains only the names of secrets (S134). @group Jobs */
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

/** A run, which the public hub calls a job. `initiator.type`: user, org, scheduled-job, duplicated-job or webhook. @group Jobs */
export const jobAnswerSchema = jobSpecAnswerSchema.extend({
  type: z.literal("job"),
  /** Absent in lists. */
  secrets: z.array(z.string()).optional(),
  /** Always 1, because this service makes one attempt. */
  attempts: z.literal(1),
  id: z.string(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  status: z.object({
    stage: z.string(),
    message: z.string().nullable(),
    failureCount: z.number(),
    /** Exists only in this service. Null until the command has ended. */
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

/** `PUT …/labels`: all labels, which replace the previous labels. @group Jobs */
export const jobLabelsBodySchema = z.object({ labels: jobSpecSchema.shape.labels.unwrap() });

/** A cron line: five fields, or `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight` or `@hourly`. */
const schedule = z.string().max(200);
const timezone = z.string().max(100);

/** `POST /api/scheduled-jobs/{namespace}` @group Jobs */
export const scheduledJobBodySchema = z.object({
  jobSpec: jobBodySchema,
  schedule,
  timezone: timezone.nullish(),
  /** Whether a run may start while the previous one is still running. */
  concurrency: z.boolean().nullish(),
  suspend: z.boolean().nullish(),
});
/** `POST …/schedule` @group Jobs */
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
    /** Why the schedule did not run when it was due, or why the service suspended it. */
    message: z.string().nullable(),
  }),
  owner: named,
  createdBy: createdBySchema,
});
export type ScheduledJobAnswer = z.infer<typeof scheduledJobAnswerSchema>;

/** `GET /api/jobs/hardware`: a flavor. Nothing is charged here; existing clients read the prices, and show "free". @group Jobs */
export const hardwareSchema = z.object({
  name: z.string(),
  prettyName: z.string(),
  cpu: z.string(),
  ram: z.string(),
  ephemeralStorage: z.string(),
  accelerator: z.null(),
  unitCostMicroUSD: z.number(),
  unitCostUSD: z.number(),
  unitLabel: z.string(),
});
