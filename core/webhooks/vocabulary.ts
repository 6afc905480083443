/** The vocabulary of deliveries, as rows, pages and the API spell it. */

/** The state of an event for one webhook. */
export const deliveryStates = [
  /** In the queue: not sent yet, or waiting for another attempt. */
  "waiting",
  "delivered",
  /** No attempt of the schedule got a 2xx response; it can be replayed (S125). */
  "failed",
  /** Over the limit of triggers in 24 hours (S127): recorded, not sent; it can be replayed. */
  "rate_limited",
  /** The webhook's owner could no longer read the repository when it was to be sent (S129). */
  "withheld",
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** How one attempt ended. */
export const attemptOutcomes = [
  /** 2xx; or a run that exited with 0. */
  "delivered",
  /** Any other status; or a run that exited with another code. */
  "rejected",
  /** No response: the name, the connection or TLS failed, or time ran out. For a job: the runner could not run it. */
  "unreachable",
  /** We refused to send it, because of its address, port or scheme (S117), or because its secret cannot be read. */
  "blocked",
  /** The owner can no longer read the repository (S129). */
  "withheld",
] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

export const attemptKinds = [
  "first",
  "retry",
  "replay",
  "test",
  /** A handler's answer to a delivery that a relay had kept. */
  "relay",
] as const;
export type AttemptKind = (typeof attemptKinds)[number];

/**
 * Lanes of the queue, in order of precedence: deliveries that a person waits for, then first attempts, then retries and large replays,
 * which thus never delay new deliveries (S128).
 */
export const lanes = {
  waitedFor: 0,
  first: 1,
  again: 2,
  /**
   * The backlog: deliveries that are due, but whose webhook, host or owner has no room. They are claimed target by target. In a lane of
   * their own, they do not slow down claims from the other lanes (decision 092).
   */
  backlog: 3,
} as const;

export const disabledReasons = [
  "owner",
  /** Every attempt of five days failed (S126). */
  "failing",
  /** The target answered 410 (S125). */
  "gone",
  /** A token created the webhook or changed it last, and its grant has ended or no longer covers the webhook (decision 071). */
  "grant_ended",
] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** NOTIFY channels. `delivery`: rows were queued. `activity`: the payload is the id of a webhook whose deliveries changed. */
export const DELIVERY_CHANNEL = "delivery";
export const ACTIVITY_CHANNEL = "activity";
