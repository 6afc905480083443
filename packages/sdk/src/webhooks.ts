import { z } from "zod";
import { createdBySchema, jobSecretsSchema, jobSpecAnswerSchema, jobSpecSchema } from "./jobs.ts";
import { testKinds } from "./webhook-activity.ts";
import { type EventDomain, eventDomains } from "./webhook-payload.ts";

/**
 * The types of items that a webhook can watch: a repository of a type, or a user or an organization with all its repositories.
 * @group Webhooks
 */
export const watchTypes = ["dataset", "model", "space", "user", "org"] as const;
export type WatchType = (typeof watchTypes)[number];

/** The maximum number of webhooks of a person or an organization, and of items that each watches. @group Webhooks */
export const WEBHOOKS_MAX_PER_OWNER = 100;
export const WATCHED_MAX_PER_WEBHOOK = 100;
export const WEBHOOK_NAME_MAX_CHARACTERS = 80;
export const WEBHOOK_URL_MAX_CHARACTERS = 2_000;
export const WEBHOOK_SECRET_MAX_CHARACTERS = 500;

/** A watched item in a request. `name` is `owner/name` for a repository, and otherwise a handle. @group Webhooks */
export const watchedItemSchema = z.object({
  type: z.enum(watchTypes, `use one of ${watchTypes.join(", ")}: nothing else can be watched here`),
  name: z.string().min(1).max(300),
});
export type WatchedItemInput = z.infer<typeof watchedItemSchema>;

/** `discussions` is what the command-line tool of existing clients calls `discussion`. @group Webhooks */
export const webhookDomainSchema = z
  .enum([...eventDomains, "discussions"], `use one of ${eventDomains.join(", ")}`)
  .transform((domain): EventDomain => (domain === "discussions" ? "discussion" : domain));

const watched = z.array(watchedItemSchema).max(WATCHED_MAX_PER_WEBHOOK, `watch at most ${WATCHED_MAX_PER_WEBHOOK} items`);
const domains = z.array(webhookDomainSchema).max(10);
/** The webhook receives only these kinds of events, instead of all events of its domains. */
const events = z.array(z.enum(testKinds)).max(testKinds.length);
const name = z.string().max(WEBHOOK_NAME_MAX_CHARACTERS);
/** The service accepts only `^[\x20-\x7e]*$`. An empty text means no secret. */
const secret = z.string().max(WEBHOOK_SECRET_MAX_CHARACTERS);

/** The spec of a job to run at each event, with secrets, which are stored encrypted. @group Webhooks */
export const webhookJobSchema = jobSpecSchema.extend({ secrets: jobSecretsSchema.nullish() });

/** A target is exactly one of `url`, `job` and `jobSourceId`. `job_id` means the same as `jobSourceId`. */
const target = {
  url: z.string().nullish(),
  job: webhookJobSchema.nullish(),
  jobSourceId: z.string().nullish(),
  job_id: z.string().nullish(),
};

export const newWebhookSchema = z.object({
  ...target,
  name: name.nullish(),
  watched: watched.min(1, "watch at least one item"),
  domains: domains.nullish(),
  events: events.nullish(),
  secret: secret.nullish(),
  /** Instead of `secret`: the service generates a secret, which only the response to this request contains. */
  generateSecret: z.boolean().nullish(),
});

/**
 * Changes of a webhook. Fields that are absent, null or an empty list keep their values. An empty secret or name removes the current one.
 * @group Webhooks
 */
export const webhookChangesSchema = z.object({
  ...target,
  name: name.nullish(),
  watched: watched.nullish(),
  /** Without `events`: all events of these domains. */
  domains: domains.nullish(),
  events: events.nullish(),
  secret: secret.nullish(),
});

/** A webhook as the API returns it, without its secret (docs/specification/webhooks.md#the-webhook-record). @group Webhooks */
export const webhookSchema = z.object({
  id: z.string(),
  name: z.string().optional(),
  url: z.string().optional(),
  job: jobSpecAnswerSchema.optional(),
  jobSourceId: z.string().optional(),
  /**
   * `suspended-after-failure`: the service disabled the webhook, after days of failed attempts or because the target responded with 410.
   */
  disabled: z.union([z.boolean(), z.literal("suspended-after-failure")]),
  status: z.enum(["enabled", "disabled"]),
  watched: z.array(
    z.object({
      type: z.enum(watchTypes),
      /** The ID if the item was deleted or may no longer be read. */
      name: z.string(),
      avatarUrl: z.string().optional(),
      /** Exists only if the item was deleted or may no longer be read. */
      unavailable: z.literal(true).optional(),
    }),
  ),
  domains: z.array(z.enum(eventDomains)),
  /** Exists only if the webhook does not receive all events of its domains. */
  events: z.array(z.enum(testKinds)).optional(),
  hasSecret: z.boolean(),
  lastTriggerAt: z.string().optional(),
  owner: z.object({ id: z.string(), name: z.string(), type: z.enum(["user", "org"]) }),
  /** The creator of the webhook, or whoever last changed it. */
  createdBy: createdBySchema,
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type WebhookRecord = z.infer<typeof webhookSchema>;
