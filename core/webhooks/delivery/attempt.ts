import type { OutboundTimings } from "../../outbound/request.ts";
import type { AttemptOutcome } from "../vocabulary.ts";

/** How one attempt went, whatever follows from it. */
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
  /** A relay has it, and its handler has not answered yet: this says nothing about the webhook. */
  isKept: boolean;
  /** For a job: its outcome would be the same again. */
  isFinal: boolean;
};

export type Answer = {
  status: number;
  headers: Record<string, string>;
  /** At most 64 KiB (S120). */
  body: Uint8Array;
  isCut: boolean;
  isReused: boolean;
  timings: OutboundTimings;
};

/** The result for a claimed row of the queue. */
export type Step =
  /** An attempt was made; the delivery is finished or due again. */
  | { step: "attempted"; attempt: Attempt; decision: Decision }
  /** No attempt: due again after this many seconds, or held until its webhook is enabled. */
  | { step: "postponed"; seconds: number | "held" }
  /** There is nothing left to send: its webhook or its event is gone. */
  | { step: "dropped" };

export type Decision = {
  /** The delivery's state: `waiting` while it is to be tried again. */
  state: "waiting" | "delivered" | "failed" | "withheld";
  /** The next attempt; `held`: when its webhook is enabled. */
  again: { seconds: number | "held"; tries: number } | null;
  /** What it says about the webhook, if anything (S126). */
  health: "works" | "fails" | null;
  disables: "gone" | "failing" | null;
  /** We had disabled the webhook, and this is its first successful delivery since. */
  isRecovery: boolean;
};
