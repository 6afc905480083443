import type { AttemptKind, DisabledReason } from "../vocabulary.ts";

/** A claimed row of the queue with what is needed to send it, read with the claim. */
export type ClaimedDelivery = {
  id: string;
  claimId: string;
  webhookId: string;
  ownerId: string;
  kind: AttemptKind;
  lane: number;
  /** `host:port` under which its slot was counted; empty for a job. */
  host: string;
  /** Earlier attempts in this round. */
  tries: number;
  replayId: string | null;
  /** Null once the webhook is gone. */
  webhook: ClaimedWebhook | null;
  /** Null once the event is gone. */
  event: { id: string; payload: string; isTest: boolean; traceparent: string | null } | null;
  /** S129: whether the webhook's owner may currently receive events of the repository. */
  mayRead: boolean;
};

export type ClaimedWebhook = {
  /** Null for a job. */
  url: string | null;
  secret: Buffer | null;
  /** Only while it still signs (S123). */
  previousSecret: Buffer | null;
  isDisabled: boolean;
  /** Also set for a webhook that was enabled again and has not delivered since. */
  disabledReason: DisabledReason | null;
  failingSince: Date | null;
};
