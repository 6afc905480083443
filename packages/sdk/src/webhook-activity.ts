import { z } from "zod";
import { eventActions, eventScopes } from "./webhook-payload.ts";

/** Times are ISO 8601 in UTC, durations whole milliseconds. */
const id = z.string();
const time = z.string();
const milliseconds = z.int().nonnegative();

export const deliverySchema = z.object({
  /** The delivery's ID, which is also the `webhook-id` header of each request. */
  id,
  kind: z.enum(["event", "test"]),
  event: z.object({ id, scope: z.string(), action: z.string() }),
  /** With the repository's name at the time of the event. */
  repo: z.object({ id, type: z.string(), name: z.string() }),
  state: z.enum(["waiting", "delivered", "failed", "rate_limited", "withheld"]),
  attempts: z.int().nonnegative(),
  lastOutcome: z.enum(["delivered", "rejected", "unreachable", "blocked", "withheld"]).nullable(),
  /** The HTTP status of the latest attempt. Null if it got no response. */
  lastStatus: z.int().nullable(),
  lastDurationMs: milliseconds.nullable(),
  createdAt: time,
  finishedAt: time.nullable(),
  /** Null while the webhook is disabled. */
  nextAttemptAt: time.nullable(),
});
export type DeliveryJson = z.infer<typeof deliverySchema>;

export const deliveryPageSchema = z.object({
  deliveries: z.array(deliverySchema),
  /** The `cursor` of the page with older deliveries. Null if there are none. */
  older: z.string().nullable(),
  /** How far back the search reached, if it stopped before the page was full. `older` continues from there. */
  searchedBackTo: time.nullable(),
  /** The `Last-Event-ID` with which the live tail continues after this page. */
  tail: z.string(),
});
export type DeliveryPageJson = z.infer<typeof deliveryPageSchema>;

const content = z.object({
  /** Null if the body is not text. */
  text: z.string().nullable(),
  /** Null if the body is text. */
  base64: z.string().nullable(),
  /** The size of the stored part. */
  bytes: z.int().nonnegative(),
  /** Whether the body was longer than the stored part (64 KiB). */
  isCut: z.boolean(),
});

export const attemptSchema = z.object({
  id,
  /** The number of the attempt, counted from 1. */
  number: z.int().positive(),
  /** `relay`: the handler's response to a delivery that a relay had kept. */
  kind: z.enum(["first", "retry", "replay", "test", "relay"]),
  startedAt: time,
  outcome: z.enum(["delivered", "rejected", "unreachable", "blocked", "withheld"]),
  /** The reason for the failure, as part of a sentence. */
  reason: z.string().nullable(),
  /** Without the body, which is the same in each attempt. Null if nothing was sent, and for a job. */
  request: z.object({ method: z.literal("POST"), url: z.string(), headers: z.record(z.string(), z.string()) }).nullable(),
  status: z.int().nullable(),
  /** Header names in lower case. Values that grant access are masked. */
  response: z.object({ headers: z.record(z.string(), z.string()), body: content }).nullable(),
  /** The first three phases are null if the connection was already open. */
  timings: z.object({
    isReused: z.boolean(),
    dnsMs: milliseconds.nullable(),
    connectMs: milliseconds.nullable(),
    tlsMs: milliseconds.nullable(),
    firstByteMs: milliseconds.nullable(),
    /** From the first byte to the last. */
    bodyMs: milliseconds.nullable(),
    totalMs: milliseconds,
  }),
  /** The time of the next attempt, as planned when this attempt was recorded. */
  nextDueAt: time.nullable(),
  /** The run of the job, if the target is a job. */
  jobRunId: z.string().nullable(),
});
export type AttemptJson = z.infer<typeof attemptSchema>;

export const deliveryDetailSchema = deliverySchema.extend({
  /** The same bytes in every attempt. Null if the body may not be shown or is no longer stored. */
  body: z.object({ text: z.string(), bytes: z.int().nonnegative() }).nullable(),
  /** `access`: the body was never sent, and the webhook's owner may no longer read the repository. */
  bodyMissing: z.enum(["access", "expired"]).nullable(),
  /** Latest first. */
  attemptLog: z.array(attemptSchema),
  /** The `attemptsBefore` of earlier attempts. Null if there are none. */
  olderAttempts: z.string().nullable(),
  canReplay: z.boolean(),
});
export type DeliveryDetailJson = z.infer<typeof deliveryDetailSchema>;

export const chartRanges = ["24h", "7d", "30d"] as const;
export type ChartRange = (typeof chartRanges)[number];

export const webhookChartSchema = z.object({
  range: z.enum(chartRanges),
  from: time,
  to: time,
  /** Attempts by outcome, and deliveries that the limit prevented, oldest first. */
  bars: z.array(
    z.object({
      from: time,
      to: time,
      delivered: z.int(),
      failed: z.int(),
      rateLimited: z.int(),
      triggered: z.int(),
      medianMs: milliseconds.nullable(),
      p99Ms: milliseconds.nullable(),
    }),
  ),
  delivered: z.int(),
  failed: z.int(),
  rateLimited: z.int(),
  /** From 0 to 1. Null if there were no attempts. */
  deliveredShare: z.number().nullable(),
  medianMs: milliseconds.nullable(),
  p99Ms: milliseconds.nullable(),
  /** Failed deliveries that will be attempted again, counted up to 10,000. */
  waitingToRetry: z.int(),
  /** How often the webhook was triggered in the last 24 hours, and the limit. */
  triggers: z.object({ count: z.int(), limit: z.int() }),
});
export type WebhookChartJson = z.infer<typeof webhookChartSchema>;

/** The outcome of a replay or a test, if it has ended. @group Webhooks */
export const replayAnswerSchema = z.object({
  /** Null if the target did not respond. */
  status: z.int().nullable(),
  outcome: z.enum(["delivered", "rejected", "unreachable", "blocked", "withheld"]),
  reason: z.string().nullable(),
  durationMs: milliseconds.nullable(),
  delivery: id,
});
export type ReplayAnswerJson = z.infer<typeof replayAnswerSchema>;

export const webhookReplaySchema = z.object({
  id,
  webhook: id,
  /** `selected`: the deliveries that were named. `failed`: all that failed in a range of time. */
  of: z.enum(["selected", "failed"]),
  since: time.nullable(),
  until: time.nullable(),
  state: z.enum(["running", "cancelled", "finished"]),
  /** The number of deliveries, how many were put into the queue, and their outcomes. */
  total: z.int(),
  queued: z.int(),
  delivered: z.int(),
  failed: z.int(),
  createdAt: time,
  finishedAt: time.nullable(),
});
export type WebhookReplayJson = z.infer<typeof webhookReplaySchema>;

/** The kinds of test: one for each kind of event. @group Webhooks */
export const testKinds = [
  "repo.create",
  "repo.update",
  "repo.delete",
  "repo.move",
  "repo.content.update",
  "repo.config.update",
  "discussion.create",
  "discussion.update",
  "discussion.delete",
  "discussion.comment.create",
  "discussion.comment.update",
  "discussion.comment.delete",
] as const;
export type TestKind = (typeof testKinds)[number];
export const testBodySchema = z.object({ kind: z.enum(testKinds).optional() });

/** Filters of a list of deliveries. @group Webhooks */
export const deliveryFilterSchema = z.object({
  state: z.enum(["waiting", "delivered", "failed", "rate_limited", "withheld"]).optional(),
  scope: z.enum(eventScopes).optional(),
  action: z.enum(eventActions).optional(),
  /** `owner/name`, or the repository's id. */
  repo: z.string().max(200).optional(),
  /** Text to find in the repository's name, the kind of the event, and IDs. */
  text: z.string().max(200).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  /** The outcome of the latest attempt. */
  outcome: z.enum(["delivered", "rejected", "unreachable", "blocked", "withheld"]).optional(),
  /** The status of the latest attempt: `404`, or `5xx` for a class. */
  status: z
    .string()
    .regex(/^[1-5](\d\d|xx)$/, "use a status such as 404, or a class such as 5xx")
    .optional(),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
});
export type DeliveryFilter = z.infer<typeof deliveryFilterSchema>;
