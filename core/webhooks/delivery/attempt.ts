import type { OutboundTimings } from "../../outbound/request.ts";
import type { AttemptOutcome } from "../vocabulary.ts";

/** One attempt as it went, whatever follows from it. */
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
  /** Whether the receiver said nothing on a connection that had been kept open: it may only have closed it. */
  isStale: boolean;
  /** A relay has it, and nobody knows yet what its handler says: this tells nothing of the webhook. */
  isKept: boolean;
  /** Of a job: its outcome would be the same again. */
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

/** What becomes of a claimed row of the queue. */
export type Step =
  /** An attempt was made, and the delivery is decided or due again. */
  | { step: "attempted"; attempt: Attempt; decision: Decision }
  /** No attempt: due again after so many seconds, or held until its webhook is enabled. */
  | { step: "postponed"; seconds: number | "held" }
  /** There is nothing to send any more: its webhook or its event is gone. */
  | { step: "dropped" };

export type Decision = {
  /** Of the delivery: `waiting` while it is to be tried again. */
  state: "waiting" | "delivered" | "failed" | "withheld";
  /** Until the next attempt; `held`: when its webhook is enabled. */
  again: { seconds: number | "held"; tries: number } | null;
  /** What it says about the webhook, where it says anything (S126). */
  health: "works" | "fails" | null;
  disables: "gone" | "failing" | null;
  /** It had been disabled by us, and this is the first that was delivered since. */
  isRecovery: boolean;
};
