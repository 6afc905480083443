import { z } from "zod";
import { eventActions, eventScopes } from "./webhook-payload.ts";

/** What webhooks did, as the API and the pages show it. Times are ISO 8601 in UTC, durations whole milliseconds. */
const id = z.string();
const time = z.string();
const milliseconds = z.int().nonnegative();

export const deliverySchema = z.object({
  /** Also the `webhook-id` header of each of its requests. */
  id,
  kind: z.enum(["event", "test"]),
  event: z.object({ id, scope: z.string(), action: z.string() }),
  /** As it was called then. */
  repo: z.object({ id, type: z.string(), name: z.string() }),
  state: z.enum(["waiting", "delivered", "failed", "rate_limited", "withheld"]),
  attempts: z.int().nonnegative(),
  lastOutcome: z.enum(["delivered", "rejected", "unreachable", "blocked", "withheld"]).nullable(),
  /** The HTTP status of the latest attempt that was answered. */
  lastStatus: z.int().nullable(),
  lastDurationMs: milliseconds.nullable(),
  createdAt: time,
  finishedAt: time.nullable(),
  /** Of a waiting one: when it is tried next. Null while its webhook is disabled. */
  nextAttemptAt: time.nullable(),
});
export type DeliveryJson = z.infer<typeof deliverySchema>;

export const deliveryPageSchema = z.object({
  deliveries: z.array(deliverySchema),
  /** `cursor` of the page of older ones; null where there are none. */
  older: z.string().nullable(),
  /**
   * Set where the search for what matches stopped before the page was full, since a search looks at so many deliveries at a time: it
   * went back to here, and `older` goes on from there.
   */
  searchedBackTo: time.nullable(),
  /** `Last-Event-ID` from which the live tail goes on where this page ends. */
  tail: z.string(),
});
export type DeliveryPageJson = z.infer<typeof deliveryPageSchema>;

const content = z.object({
  /** What it says, where it is text. */
  text: z.string().nullable(),
  /** Its bytes, where it is not. */
  base64: z.string().nullable(),
  /** Of what was kept. */
  bytes: z.int().nonnegative(),
  /** Whether there was more than is kept (64 KiB). */
  isCut: z.boolean(),
});

export const attemptSchema = z.object({
  id,
  /** From 1. */
  number: z.int().positive(),
  /** `relay`: what the handler said to a delivery that a relay had kept. */
  kind: z.enum(["first", "retry", "replay", "test", "relay"]),
  startedAt: time,
  outcome: z.enum(["delivered", "rejected", "unreachable", "blocked", "withheld"]),
  /** Why it failed, as a clause. */
  reason: z.string().nullable(),
  /** What was sent, but for the body, which is the same in each attempt; null where nothing was, and of a job. */
  request: z.object({ method: z.literal("POST"), url: z.string(), headers: z.record(z.string(), z.string()) }).nullable(),
  status: z.int().nullable(),
  /** Headers in lower case; values that would let their reader in are masked. */
  response: z.object({ headers: z.record(z.string(), z.string()), body: content }).nullable(),
  /** Of a connection that was open already, without the first three. */
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
  /** When the next one was due as this one was recorded. */
  nextDueAt: time.nullable(),
  /** The run that was this attempt, of a webhook with a job. */
  jobRunId: z.string().nullable(),
});
export type AttemptJson = z.infer<typeof attemptSchema>;

export const deliveryDetailSchema = deliverySchema.extend({
  /** What was, or is to be, sent: the same bytes in every attempt. Null where it may not be shown or is not kept any more. */
  body: z.object({ text: z.string(), bytes: z.int().nonnegative() }).nullable(),
  /** Why there is no body. `access`: it was never sent, and the webhook's owner may not read the repository now. */
  bodyMissing: z.enum(["access", "expired"]).nullable(),
  /** The latest first. */
  attemptLog: z.array(attemptSchema),
  /** `attemptsBefore` of the attempts before these; null where there are none. */
  olderAttempts: z.string().nullable(),
  /** Whether it may be put into the queue (again). */
  canReplay: z.boolean(),
});
export type DeliveryDetailJson = z.infer<typeof deliveryDetailSchema>;

export const chartRanges = ["24h", "7d", "30d"] as const;
export type ChartRange = (typeof chartRanges)[number];

export const webhookChartSchema = z.object({
  range: z.enum(chartRanges),
  from: time,
  to: time,
  /** Attempts by how they ended, and what the limit kept back. The oldest first. */
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
  /** Of the attempts, from 0 to 1; null where there were none. */
  deliveredShare: z.number().nullable(),
  medianMs: milliseconds.nullable(),
  p99Ms: milliseconds.nullable(),
  /** Deliveries that were tried and are to be tried again, counted up to 10,000. */
  waitingToRetry: z.int(),
  /** How often it was set off in the last 24 hours, and how often it may be. */
  triggers: z.object({ count: z.int(), limit: z.int() }),
});
export type WebhookChartJson = z.infer<typeof webhookChartSchema>;

/** How a replay or a test ended, or that it has not yet. */
export const replayAnswerSchema = z.object({
  /** The HTTP status that the target gave; null where it gave none. */
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
  /** `selected`: those that were named; `failed`: all that had failed in a range of time. */
  of: z.enum(["selected", "failed"]),
  since: time.nullable(),
  until: time.nullable(),
  state: z.enum(["running", "cancelled", "finished"]),
  /** How many it is about, how many of them were put into the queue, and what became of those. */
  total: z.int(),
  queued: z.int(),
  delivered: z.int(),
  failed: z.int(),
  createdAt: time,
  finishedAt: time.nullable(),
});
export type WebhookReplayJson = z.infer<typeof webhookReplaySchema>;

/** What a test can be of: each kind of event that there is. */
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

/** What a list of deliveries is narrowed by. */
export const deliveryFilterSchema = z.object({
  state: z.enum(["waiting", "delivered", "failed", "rate_limited", "withheld"]).optional(),
  scope: z.enum(eventScopes).optional(),
  action: z.enum(eventActions).optional(),
  /** `owner/name`, or the repository's id. */
  repo: z.string().max(200).optional(),
  /** In the repository's name, the event's kind, or an id. */
  text: z.string().max(200).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  /** Of the latest attempt. */
  outcome: z.enum(["delivered", "rejected", "unreachable", "blocked", "withheld"]).optional(),
  /** Of the latest attempt: `404`, or `5xx` for a class. */
  status: z
    .string()
    .regex(/^[1-5](\d\d|xx)$/, "write a status such as 404, or a class such as 5xx")
    .optional(),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
});
export type DeliveryFilter = z.infer<typeof deliveryFilterSchema>;
