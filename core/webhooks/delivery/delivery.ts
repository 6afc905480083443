import type { AttemptKind, DisabledReason } from "../vocabulary.ts";

/** A row of the queue under a worker's claim, with what is needed to send it, read as it was claimed. */
export type ClaimedDelivery = {
  id: string;
  claimId: string;
  webhookId: string;
  ownerId: string;
  kind: AttemptKind;
  lane: number;
  /** `host:port` by which its place was counted; empty for a job. */
  host: string;
  /** Attempts of this round before this one. */
  tries: number;
  replayId: string | null;
  /** Null once the webhook is gone. */
  webhook: ClaimedWebhook | null;
  /** Null once the event is gone. */
  event: { id: string; payload: string; isTest: boolean; traceparent: string | null } | null;
  /** S129: whether the owner of the webhook may be told of the repository, at this moment. */
  mayRead: boolean;
};

export type ClaimedWebhook = {
  /** Null for a job. */
  url: string | null;
  secret: Buffer | null;
  /** Only as long as it still signs (S123). */
  previousSecret: Buffer | null;
  isDisabled: boolean;
  /** Also of a webhook that is enabled again and has not delivered since. */
  disabledReason: DisabledReason | null;
  failingSince: Date | null;
};
