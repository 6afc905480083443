import { z } from "zod";
import { createdBySchema, jobSecretsSchema, jobSpecAnswerSchema, jobSpecSchema } from "./jobs.ts";
import { type EventDomain, eventDomains } from "./webhook-payload.ts";

/** What a webhook can watch: a repository of a type, or a user or an organization for everything under their name. */
export const watchTypes = ["dataset", "model", "space", "user", "org"] as const;
export type WatchType = (typeof watchTypes)[number];

/** How many webhooks a person or an organization has at most, and how much each watches. */
export const WEBHOOKS_MAX_PER_OWNER = 100;
export const WATCHED_MAX_PER_WEBHOOK = 100;
export const WEBHOOK_URL_MAX_CHARACTERS = 2_000;
export const WEBHOOK_SECRET_MAX_CHARACTERS = 500;

/** A watched item as it is sent: `name` is `owner/name` of a repository, and a handle otherwise. */
export const watchedItemSchema = z.object({
  type: z.enum(watchTypes, `write one of ${watchTypes.join(", ")}: nothing else can be watched here`),
  name: z.string().min(1).max(300),
});
export type WatchedItemInput = z.infer<typeof watchedItemSchema>;

/** `discussions` is what the command-line tool of existing clients calls `discussion`. */
export const webhookDomainSchema = z
  .enum([...eventDomains, "discussions"], `write one of ${eventDomains.join(", ")}`)
  .transform((domain): EventDomain => (domain === "discussions" ? "discussion" : domain));

const watched = z.array(watchedItemSchema).max(WATCHED_MAX_PER_WEBHOOK, `watch at most ${WATCHED_MAX_PER_WEBHOOK} items`);
const domains = z.array(webhookDomainSchema).max(10);
/** `^[\x20-\x7F]*$`; the service says more of it in sentences. Empty: none. */
const secret = z.string().max(WEBHOOK_SECRET_MAX_CHARACTERS);

/** The spec of a job to run at each event, with values that are kept sealed. */
export const webhookJobSchema = jobSpecSchema.extend({ secrets: jobSecretsSchema.nullish() });

/** Where events go: exactly one of `url`, `job` and `jobSourceId` (or `job_id`, which means the same). */
const target = {
  url: z.string().nullish(),
  job: webhookJobSchema.nullish(),
  jobSourceId: z.string().nullish(),
  job_id: z.string().nullish(),
};

export const newWebhookSchema = z.object({
  ...target,
  watched: watched.min(1, "watch at least one item"),
  domains: domains.nullish(),
  secret: secret.nullish(),
  /** In place of `secret`: one is made, and is in the answer, this once. */
  generateSecret: z.boolean().nullish(),
});

/** What is absent, null or an empty list stays as it is; an empty secret takes the secret away. */
export const webhookChangesSchema = z.object({
  ...target,
  watched: watched.nullish(),
  domains: domains.nullish(),
  secret: secret.nullish(),
});

/** A webhook as the API gives it (docs/specification/webhooks.md#the-webhook-record). The secret is never in it. */
export const webhookSchema = z.object({
  id: z.string(),
  url: z.string().optional(),
  job: jobSpecAnswerSchema.optional(),
  jobSourceId: z.string().optional(),
  /** `suspended-after-failure`: by the service, after days of failed attempts or because the target answered 410. */
  disabled: z.union([z.boolean(), z.literal("suspended-after-failure")]),
  status: z.enum(["enabled", "disabled"]),
  watched: z.array(
    z.object({
      type: z.enum(watchTypes),
      /** As it is called now. What is gone, or may not be read any more, has its id here. */
      name: z.string(),
      avatarUrl: z.string().optional(),
      /** Only of what is gone or may not be read any more. */
      unavailable: z.literal(true).optional(),
    }),
  ),
  domains: z.array(z.enum(eventDomains)),
  hasSecret: z.boolean(),
  lastTriggerAt: z.string().optional(),
  owner: z.object({ id: z.string(), name: z.string(), type: z.enum(["user", "org"]) }),
  /** Whoever made it or changed it last. */
  createdBy: createdBySchema,
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type WebhookRecord = z.infer<typeof webhookSchema>;
