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
  /** The `host:port` whose slot the delivery takes, or empty for a job. */
  host: string;
  /** The number of failed attempts since the retry schedule or the latest replay began. */
  tries: number;
  replayId: string | null;
  webhook: ClaimedWebhook | null;
  event: { id: string; payload: string; isTest: boolean; traceparent: string | null } | null;
  /** S129: the webhook's owner may currently receive events of the repository. */
  mayRead: boolean;
  /** Null once the delivery is stored, and for a row of the queue. */
  lease: EventLease | null;
};

/** All other deliveries go to a relay or a job. */
export const isPosted = ({ webhook, host }: ClaimedDelivery): boolean => webhook?.url != null && !host.startsWith("relay:");

/** The right of one worker to make the first attempts of an event (decision 092). */
export type EventLease = {
  id: string;
  claimId: string;
  repoName: string;
  open: Set<string>;
  /** Triggers over the limit without a stored delivery. Subtracted when the lease ends, so that none is subtracted twice. */
  onlyCounted: (OverLimit & { webhookId: string })[];
  cursor: string | null;
  error: string | null;
  /** The worker lets the lease expire, so that the event is tried again. */
  isGivenUp: boolean;
};

export type ClaimedWebhook = {
  url: string | null;
  secret: Buffer | null;
  /** Set only while signatures with the previous secret are sent too (S123). */
  previousSecret: Buffer | null;
  isDisabled: boolean;
  /** Stays set after the webhook is enabled, until a delivery succeeds. */
  disabledReason: DisabledReason | null;
  failingSince: Date | null;
};

export type Attempt = {
  startedAt: Date;
  outcome: AttemptOutcome;
  reason: string | null;
  url: string | null;
  signature: string | null;
  totalMs: number;
  answer: Answer | null;
  jobRunId: string | null;
  /** A reused connection ended without a response, which may only mean that the receiver closed an idle connection. */
  isStale: boolean;
  /** A relay has stored the delivery, and its handler has not answered yet. */
  isKept: boolean;
  isFinal: boolean;
};

/** A longer response is stored only up to this size (S120). */
export const RESPONSE_BODY_MAX_BYTES = RECORDED_BODY_MAX_BYTES;

export type Answer = {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
  isCut: boolean;
  isReused: boolean;
  timings: OutboundTimings;
};

export type Step =
  | { step: "attempted"; attempt: Attempt; decision: Decision }
  /** With `held`, the delivery waits until the webhook is enabled. */
  | { step: "postponed"; seconds: number | "held" }
  /** The attempt continues in the queue, and the event is released. */
  | { step: "sending" }
  /** The delivery is over the limit of triggers (S127), and never sent. */
  | { step: "rate_limited"; over: OverLimit }
  | { step: "dropped" };

export type Done = { delivery: ClaimedDelivery; step: Step };

/** `hour` is the hour in which the trigger was counted. */
export type OverLimit = { hour: string; isByOutsider: boolean };

export type Decision = {
  state: "waiting" | "delivered" | "failed" | "withheld";
  again: { seconds: number | "held"; tries: number } | null;
  /** Null if the outcome says nothing about the webhook's health (S126). */
  health: "works" | "fails" | null;
  disables: "gone" | "failing" | null;
  isRecovery: boolean;
};

const PAYLOAD_VERSION = 3;

/**
 * The body is built from the event's text, so that every attempt and replay sends the same bytes (S124).
 * @param event `event.payload` as text: a JSON object that is not empty
 */
export function deliveryBody(event: string, webhookId: string): string {
  return `${event.trimEnd().slice(0, -1)},"webhook":{"id":"${webhookId}","version":${PAYLOAD_VERSION}}}`;
}
