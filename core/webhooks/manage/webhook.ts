import type { EventDomain, TestKind, WatchType } from "@keyhook/sdk";
import type { MadeWith } from "../../access/delegation.ts";
import type { Resources } from "../../access/rule.ts";
import type { StoredSpec } from "../../jobs/runs/run.ts";
import { relayTargetOf } from "../../relay/relay.ts";
import type { DisabledReason } from "../vocabulary.ts";

export type WebhookOwner = { kind: "user" | "organization"; id: string };

export type WatchedItem = {
  type: WatchType;
  /** The ID stays the same when the item is renamed or moved. */
  id: string;
  /** Null if the item was deleted or is unreadable: an owner who lost access must not learn whether a repository exists. */
  name: string | null;
};

export type WebhookJob = StoredSpec & { secretNames: string[] };

export type Webhook = {
  id: string;
  owner: WebhookOwner & { handle: string };
  name: string | null;
  url: string | null;
  job: WebhookJob | null;
  jobSourceId: string | null;
  watched: WatchedItem[];
  domains: EventDomain[];
  /** An empty list means all kinds of the domains. */
  events: TestKind[];
  hasSecret: boolean;
  /** Null if no previous secret is used for signatures (S123). */
  previousSecretUntil: Date | null;
  disabledAt: Date | null;
  disabledReason: DisabledReason | null;
  /** Every attempt since this time has failed (S126). */
  failingSince: Date | null;
  /** The user who created, took over or last changed the webhook. A new name does not count. */
  createdById: string | null;
  madeWith: MadeWith | null;
  createdAt: Date;
  updatedAt: Date;
  lastTriggeredAt: Date | null;
};

/** A replaced secret is used for signatures for this long (S123). */
export const PREVIOUS_SECRET_HOURS = 24;

export function webhookNamespace({ kind, id }: WebhookOwner): Resources["namespace"] {
  return { ownerUserId: kind === "user" ? id : null, ownerOrgId: kind === "organization" ? id : null };
}

/** The administrators of this organization see changes in their audit log. */
export const auditOrgId = ({ kind, id }: WebhookOwner): string | null => (kind === "organization" ? id : null);

/** The query is left out, because it may contain a key. */
export function targetInShort({ url }: Pick<Webhook, "url">): string {
  if (url === null) return "a job";
  // The path of a relay's URL contains the relay's token.
  if (relayTargetOf(url)) return `${new URL(url).origin}/relay/…`;
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
