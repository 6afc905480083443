export const deliveryStates = [
  "waiting",
  "delivered",
  /** No attempt got a 2xx response. The delivery can be replayed (S125). */
  "failed",
  /** The delivery is over the limit of triggers in 24 hours (S127). It can be replayed. */
  "rate_limited",
  /** The webhook's owner could no longer read the repository (S129). */
  "withheld",
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const attemptOutcomes = [
  /** A 2xx response, or a run that exited with 0. */
  "delivered",
  /** Any other response, or a run that exited with another code or was cancelled. */
  "rejected",
  /** No response, or a runner that could not run the job. */
  "unreachable",
  /** The service refused to send, because the address, port or scheme is not allowed (S117), or the secret cannot be read. */
  "blocked",
  "withheld",
] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

export const attemptKinds = ["first", "retry", "replay", "test", "relay"] as const;
export type AttemptKind = (typeof attemptKinds)[number];

/** Lanes are in order of precedence, so that retries and large replays never delay new deliveries (S128). */
export const lanes = {
  waitedFor: 0,
  first: 1,
  again: 2,
  /** The backlog has due deliveries without room, which are claimed target by target (decision 092). */
  backlog: 3,
} as const;

export const disabledReasons = [
  "owner",
  /** Every attempt of five days failed (S126). */
  "failing",
  /** The target answered with 410 (S125). */
  "gone",
  /** The token's grant has ended, or no longer covers the webhook (decision 071). */
  "grant_ended",
] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** `delivery` means that rows were queued. The payload of `activity` is the ID of a webhook whose deliveries changed. */
export const DELIVERY_CHANNEL = "delivery";
export const ACTIVITY_CHANNEL = "activity";
