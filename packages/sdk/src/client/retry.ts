import { ApiError } from "./api-error.ts";

/** Between two attempts, in milliseconds. */
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 20_000;
/** Whoever is told to wait longer is told so by the error: a program that stands still for an hour seems dead. */
export const RETRY_AFTER_MAX_SECONDS = 60;

const RETRIED_STATUSES = new Set([429, 502, 503, 504]);

/** Whether the same request may well succeed a little later. A status of 0 is a network failure. */
export function isWorthRetrying(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  if ((error.retryAfterSeconds ?? 0) > RETRY_AFTER_MAX_SECONDS) return false;
  return RETRIED_STATUSES.has(error.status) || error.code === "network" || error.code === "timeout";
}

/**
 * Exponential backoff with full jitter: any time up to the limit, so that clients that failed together do not come again together. What
 * the service asks for is waited for at the least.
 * @param attempt how many have failed, from 1
 */
export function delayBeforeRetry(attempt: number, retryAfterSeconds = 0, random = Math.random): number {
  const limit = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return retryAfterSeconds * 1000 + random() * limit;
}

/** @throws the signal's reason once it is aborted */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
