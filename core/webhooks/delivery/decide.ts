import type { Attempt, Decision } from "./attempt.ts";
import type { ClaimedDelivery } from "./delivery.ts";
import { retryAfterSeconds, retryDelay } from "./retry-schedule.ts";

/** A webhook is disabled once every attempt has failed for this long (S126). */
export const FAILING_MAX_MS = 5 * 24 * 60 * 60 * 1000;

/** Decides what follows from an attempt (S125, S126, S129). */
export function decide({ kind, tries, webhook }: ClaimedDelivery, attempt: Attempt, random = Math.random): Decision {
  const none = { again: null, health: null, disables: null, isRecovery: false };
  switch (attempt.outcome) {
    case "delivered":
      if (attempt.isKept) return { ...none, state: "delivered" };
      return { ...none, state: "delivered", health: "works", isRecovery: isOurs(webhook?.disabledReason) };
    case "withheld":
      return { ...none, state: "withheld" };
    default:
  }
  // The receiver may have closed the kept connection, which it may do at any time: that says nothing about it. Only once in
  // a round, so that a receiver that always does it is retried by the schedule.
  if (attempt.isStale && kind !== "retry") return { ...none, state: "waiting", again: { seconds: 0, tries } };

  const failed = { ...none, health: "fails" as const };
  if (attempt.answer?.status === 410) return { ...failed, state: "failed", disables: "gone" };
  const disables = hasFailedTooLong(webhook?.failingSince, attempt.startedAt) ? "failing" : null;
  const delay = attempt.isFinal ? undefined : retryDelay(tries + 1, askedFor(attempt), random);
  if (delay === undefined) return { ...failed, state: "failed", disables };
  return { ...failed, state: "waiting", again: { seconds: disables ? "held" : delay, tries: tries + 1 }, disables };
}

const isOurs = (reason: string | null | undefined): boolean => reason === "failing" || reason === "gone";

const hasFailedTooLong = (since: Date | null | undefined, now: Date): boolean =>
  since != null && now.getTime() - since.getTime() >= FAILING_MAX_MS;

function askedFor({ answer, startedAt }: Attempt): number {
  if (answer?.status !== 429 && answer?.status !== 503) return 0;
  return retryAfterSeconds(answer.headers["retry-after"], startedAt.getTime());
}
