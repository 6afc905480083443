import type { Attempt, ClaimedDelivery, Decision } from "./delivery.ts";

/** A webhook is disabled when every attempt has failed for this long (S126). */
export const FAILING_MAX_MS = 5 * 24 * 60 * 60 * 1000;

/** S125, S126 and S129 define what follows from an attempt. */
export function decide({ kind, tries, webhook }: ClaimedDelivery, attempt: Attempt, random = Math.random): Decision {
  const none = { again: null, health: null, disables: null, isRecovery: false };
  switch (attempt.outcome) {
    case "delivered":
      if (attempt.isKept) return { ...none, state: "delivered" };
      return { ...none, state: "delivered", health: "works", isRecovery: isAutomatic(webhook?.disabledReason) };
    case "withheld":
      return { ...none, state: "withheld" };
    default:
  }
  // A receiver may close an idle connection at any time, so a first attempt or replay is repeated at once. The repetition counts as
  // a retry. A retry is never repeated at once, so if a receiver always closes the connection, the schedule decides.
  if (attempt.isStale && kind !== "retry") return { ...none, state: "waiting", again: { seconds: 0, tries } };

  const failed = { ...none, health: "fails" as const };
  if (attempt.answer?.status === 410) return { ...failed, state: "failed", disables: "gone" };
  const disables = hasFailedTooLong(webhook?.failingSince, attempt.startedAt) ? "failing" : null;
  const delay = attempt.isFinal ? undefined : retryDelay(tries + 1, askedFor(attempt), random);
  if (delay === undefined) return { ...failed, state: "failed", disables };
  return { ...failed, state: "waiting", again: { seconds: disables ? "held" : delay, tries: tries + 1 }, disables };
}

const isAutomatic = (reason: string | null | undefined): boolean => reason === "failing" || reason === "gone";

const hasFailedTooLong = (since: Date | null | undefined, now: Date): boolean =>
  since != null && now.getTime() - since.getTime() >= FAILING_MAX_MS;

function askedFor({ answer, startedAt }: Attempt): number {
  if (answer?.status !== 429 && answer?.status !== 503) return 0;
  return retryAfterSeconds(answer.headers["retry-after"], startedAt.getTime());
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** In seconds, for nine retries (S125). */
const SCHEDULE = [5, 30, 3 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR];

/** Jitter only delays. With it, the delays of the schedule still sum up to less than 48 hours. */
const JITTER_SHARE = 0.1;
const JITTER_MAX = 5 * MINUTE;

export const RETRY_AFTER_MAX = 24 * HOUR;

/**
 * @param failed the number of attempts since the schedule began, at least 1
 * @param askedFor the seconds that the receiver asked for
 * @returns seconds, or undefined if no further attempt follows
 */
export function retryDelay(failed: number, askedFor = 0, random: () => number = Math.random): number | undefined {
  const planned = SCHEDULE[failed - 1];
  if (planned === undefined) return undefined;
  const delay = Math.max(planned, Math.min(askedFor, RETRY_AFTER_MAX));
  return delay + random() * Math.min(delay * JITTER_SHARE, JITTER_MAX);
}

/**
 * The header has seconds or a date (RFC 9110 §10.2.3).
 * @returns 0 for anything else
 */
export function retryAfterSeconds(header: string | undefined, now = Date.now()): number {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_MAX);
  // `Date.parse` accepts more than HTTP dates.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return 0;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.min(Math.max(0, Math.ceil((at - now) / 1000)), RETRY_AFTER_MAX);
}
