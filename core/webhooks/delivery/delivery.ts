import type { OutboundTimings } from "../../outbound/request.ts";
import { RECORDED_BODY_MAX_BYTES } from "../../relay/relay.ts";
import type { AttemptKind, AttemptOutcome, DisabledReason } from "../vocabulary.ts";

/** A claimed row of the queue, or a delivery of a leased event, with what is needed to send it, read with the claim or the lease. */
export type ClaimedDelivery = {
  id: string;
  claimId: string;
  webhookId: string;
  ownerId: string;
  kind: AttemptKind;
  lane: number;
  /** `host:port` under which its slot was counted; empty for a job. */
  host: string;
  /** The number of failed attempts since the retry schedule began, with the delivery itself or with its latest replay. */
  tries: number;
  replayId: string | null;
  /** Null once the webhook is gone. */
  webhook: ClaimedWebhook | null;
  /** Null once the event is gone. */
  event: { id: string; payload: string; isTest: boolean; traceparent: string | null } | null;
  /** S129: whether the webhook's owner may currently receive events of the repository. */
  mayRead: boolean;
  /** The event under whose lease it is sent; null once it is stored, and for a row of the queue. */
  lease: EventLease | null;
};

/** Whether it is sent by an HTTP request of this process. */
export const isPosted = ({ webhook, host }: ClaimedDelivery): boolean => webhook?.url != null && !host.startsWith("relay:");

/** An event whose first attempts a worker makes (decision 092). */
export type EventLease = {
  id: string;
  claimId: string;
  repoName: string;
  /** Ids of its deliveries that are not stored yet. Once the last of them is stored, the event is done. */
  open: Set<string>;
  /** Its triggers over the limit that are not stored as deliveries. They are subtracted when the lease ends, so never twice. */
  onlyCounted: (OverLimit & { webhookId: string })[];
  /** The last webhook of a page, if there may be more webhooks; otherwise null. */
  cursor: string | null;
  /** Why the event is set aside: its deliveries cannot be made or stored. */
  error: string | null;
  /** Whether the worker abandons the event and lets its lease expire, so that it is tried again. */
  isGivenUp: boolean;
};

export type ClaimedWebhook = {
  /** Null for a job. */
  url: string | null;
  secret: Buffer | null;
  /** Set only while the previous secret still signs (S123). */
  previousSecret: Buffer | null;
  isDisabled: boolean;
  /** Also set while an enabled webhook has not delivered anything since it was disabled. */
  disabledReason: DisabledReason | null;
  failingSince: Date | null;
};

/** The outcome of one attempt, independent of what follows from it. */
export type Attempt = {
  startedAt: Date;
  outcome: AttemptOutcome;
  /** Why it failed, as a clause for the webhook's owner. */
  reason: string | null;
  url: string | null;
  signature: string | null;
  totalMs: number;
  answer: Answer | null;
  jobRunId: string | null;
  /** Whether a kept connection ended without a response: the receiver may only have closed it. */
  isStale: boolean;
  /** A relay has stored the delivery, and its handler has not answered yet. This says nothing about the webhook. */
  isKept: boolean;
  /** Whether no further attempt follows: for a test, and for a job that would have the same outcome again. */
  isFinal: boolean;
};

/** The part of a response that is stored (S120). */
export const RESPONSE_BODY_MAX_BYTES = RECORDED_BODY_MAX_BYTES;

export type Answer = {
  status: number;
  headers: Record<string, string>;
  /** At most `RESPONSE_BODY_MAX_BYTES`. */
  body: Uint8Array;
  isCut: boolean;
  isReused: boolean;
  timings: OutboundTimings;
};

/** The result for a claimed delivery. */
export type Step =
  /** An attempt was made; the delivery is finished or due again. */
  | { step: "attempted"; attempt: Attempt; decision: Decision }
  /** No attempt: due again after this many seconds, or held until its webhook is enabled. */
  | { step: "postponed"; seconds: number | "held" }
  /** The attempt takes long: it continues in the queue, under this worker's claim, and its event is released. */
  | { step: "sending" }
  /** Over the limit of triggers, and counted in that hour (S127): never sent. */
  | { step: "rate_limited"; over: OverLimit }
  /** There is nothing left to send: its webhook or its event is gone. */
  | { step: "dropped" };

export type Done = { delivery: ClaimedDelivery; step: Step };

/** A trigger over the limit, which is subtracted from the hour in which it was counted. */
export type OverLimit = { hour: string; isByOutsider: boolean };

export type Decision = {
  /** The delivery's state: `waiting` while it is to be tried again. */
  state: "waiting" | "delivered" | "failed" | "withheld";
  /** The next attempt; `held`: when its webhook is enabled. */
  again: { seconds: number | "held"; tries: number } | null;
  /** What the outcome shows about the webhook, if anything (S126). */
  health: "works" | "fails" | null;
  disables: "gone" | "failing" | null;
  /** We had disabled the webhook, and this is its first successful delivery since. */
  isRecovery: boolean;
};

/** The version of the payload that `webhook.version` names (docs/specification/webhooks.md#payload). */
const PAYLOAD_VERSION = 3;

/**
 * The body of a delivery: the stored text of the event, plus the webhook. It is built from text alone, so that every attempt
 * and replay sends the same bytes, however later versions of this service write JSON (S124).
 * @param event `event.payload` as text: a JSON object that is not empty
 */
export function deliveryBody(event: string, webhookId: string): string {
  return `${event.trimEnd().slice(0, -1)},"webhook":{"id":"${webhookId}","version":${PAYLOAD_VERSION}}}`;
}
