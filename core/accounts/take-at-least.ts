import { setTimeout as sleep } from "node:timers/promises";

/**
 * Runs `work`, and returns or fails no sooner than after `milliseconds`, so that the time does not reveal whether there was
 * anything to do, such as an account to send mail to (S115).
 */
export async function takeAtLeast<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const [outcome] = await Promise.allSettled([work(), sleep(milliseconds)]);
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}
