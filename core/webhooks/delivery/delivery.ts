import type { OutboundTimings } from "../../outbound/request.ts";
import { RECORDED_BODY_MAX_BYTES } from "../../relay/relay.ts";
import type { AttemptKind, AttemptOutcome, DisabledReason } from "../vocabulary.ts";

export type ClaimedDelivery = {
  id: string;
  claimId: string;
  webhookId: string;
  ownerId: string;
  kind: AttemptKind;
  lane: number;
  /** `host:port` of the slot. Empty for a job. */
  host: string;
  /** Failed attempts since the retry schedule or the latest replay began. */
  tries: number;
  replayId: string | null;
  /** Null once the webhook is gone. */
  webhook: ClaimedWebhook | null;
  /** Null once the event is gone. */
  event: { id: string; payload: string; isTest: boolean; traceparent: string | null } | null;
  /** S129: the webhook's owner may currently receive events of the repository. */
  mayRead: boolean;
  /** Null once the delivery is stored, and for a row of the queue. */
  lease: EventLease | null;
};

/** Otherwise a relay or a job gets the delivery. */
export const isPosted = ({ webhook, host }: ClaimedDelivery): boolean => webhook?.url != null && !host.startsWith("relay:");

/** See decision 092. */
export type EventLease = {
  id: string;
  claimId: string;
  repoName: string;
  /** IDs of deliveries that are not stored yet. */
  open: Set<string>;
  /** Triggers over the limit without a stored delivery. They are subtracted when the lease ends, so never twice. */
  onlyCounted: (OverLimit & { webhookId: string })[];
  /** The last webhook of a page. Null if there are no more webhooks. */
  cursor: string | null;
  /** Why the event is set aside. */
  error: string | null;
  /** The lease will expire, so that the event is tried again. */
  isGivenUp: boolean;
};

export type ClaimedWebhook = {
  /** Null for a job. */
  url: string | null;
  secret: Buffer | null;
  /** Set only while the previous secret still signs (S123). */
  previousSecret: Buffer | null;
  isDisabled: boolean;
  /** Also set while an enabled webhook has not delivered anything since. */
  disabledReason: DisabledReason | null;
  failingSince: Date | null;
};

export type Attempt = {
  startedAt: Date;
  outcome: AttemptOutcome;
  /** A clause for the webhook's owner. */
  reason: string | null;
  url: string | null;
  signature: string | null;
  totalMs: number;
  answer: Answer | null;
  jobRunId: string | null;
  /** A kept connection ended without a response, so the receiver may only have closed the connection. */
  isStale: boolean;
  /** A relay has stored the delivery, and the handler has not answered yet. */
  isKept: boolean;
  /** For a test, and for a job that would have the same outcome again. */
  isFinal: boolean;
};

/** See S120. */
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

export type Step =
  | { step: "attempted"; attempt: Attempt; decision: Decision }
  /** After this many seconds, or on hold until the webhook is enabled. */
  | { step: "postponed"; seconds: number | "held" }
  /** The attempt continues in the queue, and the event is released. */
  | { step: "sending" }
  /** Over the limit of triggers (S127): never sent. */
  | { step: "rate_limited"; over: OverLimit }
  /** The webhook or the event is gone. */
  | { step: "dropped" };

export type Done = { delivery: ClaimedDelivery; step: Step };

/** Subtracted from the hour in which the trigger was counted. */
export type OverLimit = { hour: string; isByOutsider: boolean };

export type Decision = {
  /** `waiting` while the delivery is to be tried again. */
  state: "waiting" | "delivered" | "failed" | "withheld";
  /** `held`: when the webhook is enabled. */
  again: { seconds: number | "held"; tries: number } | null;
  /** What the outcome shows about the webhook, if anything (S126). */
  health: "works" | "fails" | null;
  disables: "gone" | "failing" | null;
  /** The first success since the service disabled the webhook. */
  isRecovery: boolean;
};

const PAYLOAD_VERSION = 3;

/**
 * Built from text alone, so that every attempt and replay sends the same bytes (S124). @param event `event.payload` as text: a
 * JSON object that is not empty
 */
export function deliveryBody(event: string, webhookId: string): string {
  return `${event.trimEnd().slice(0, -1)},"webhook":{"id":"${webhookId}","version":${PAYLOAD_VERSION}}}`;
}
