const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Seconds until each further attempt of a round: nine, over less than 48 hours (S125). */
const SCHEDULE = [5, 30, 3 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR];

/** Jitter only delays: by up to a tenth, and at most five minutes, so that the round stays under 48 hours. */
const JITTER_SHARE = 0.1;
const JITTER_MAX = 5 * MINUTE;

/** A receiver cannot delay a delivery longer than the schedule itself does. */
export const RETRY_AFTER_MAX = 24 * HOUR;

/**
 * Seconds until the next attempt; undefined if there is none.
 * @param failed number of failed attempts in this round, at least 1
 * @param askedFor seconds for which the receiver asked not to be called
 */
export function retryDelay(failed: number, askedFor = 0, random: () => number = Math.random): number | undefined {
  const planned = SCHEDULE[failed - 1];
  if (planned === undefined) return undefined;
  const delay = Math.max(planned, Math.min(askedFor, RETRY_AFTER_MAX));
  return delay + random() * Math.min(delay * JITTER_SHARE, JITTER_MAX);
}

/** Seconds of a Retry-After header: seconds or a date (RFC 9110 §10.2.3); 0 if it is neither. */
export function retryAfterSeconds(header: string | undefined, now = Date.now()): number {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_MAX);
  // Date.parse accepts more than HTTP dates: it takes "2" for a month.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return 0;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.min(Math.max(0, Math.ceil((at - now) / 1000)), RETRY_AFTER_MAX);
}
