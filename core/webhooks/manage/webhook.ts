import type { EventDomain, JobSpec, TestKind, WatchType } from "@keyhook/sdk";
import type { MadeWith } from "../../access/delegation.ts";
import type { Resources } from "../../access/rule.ts";
import { relayTargetOf } from "../../relay/relay.ts";
import type { DisabledReason } from "../vocabulary.ts";

/** The owner of a webhook. */
export type WebhookOwner = { kind: "user" | "organization"; id: string };

export type WatchedItem = {
  type: WatchType;
  /** The id of the repository, user or organization, which does not change when they are renamed or moved. */
  id: string;
  /**
   * `owner/name` of a repository, otherwise a handle, both current; null for what was deleted, and for what the webhook's owner or the
   * reading token cannot read. These are not distinguished: an owner who lost access must not learn whether a repository still exists.
   */
  name: string | null;
};

/** The job that a webhook runs, with only the names of its secrets. */
export type WebhookJob = JobSpec & { secretNames: string[] };

export type Webhook = {
  id: string;
  owner: WebhookOwner & { handle: string };
  name: string | null;
  /** Either this or `job`. */
  url: string | null;
  job: WebhookJob | null;
  /** The run that `job` was copied from. */
  jobSourceId: string | null;
  watched: WatchedItem[];
  domains: EventDomain[];
  /** The kinds of events that it receives; empty for all of its domains. */
  events: TestKind[];
  hasSecret: boolean;
  /** Until when the previous secret also signs; null if there is none (S123). */
  previousSecretUntil: Date | null;
  disabledAt: Date | null;
  disabledReason: DisabledReason | null;
  /** Since when every attempt has failed (S126). */
  failingSince: Date | null;
  /** Who created it, enabled it after a grant had ended, or last changed what it watches, its events, target or secret. */
  createdById: string | null;
  /** The app or token with which they did so; null if they did so on the pages. */
  madeWith: MadeWith | null;
  createdAt: Date;
  updatedAt: Date;
  /** When an event last triggered it, as far back as deliveries are kept. */
  lastTriggeredAt: Date | null;
};

/** How long a replaced secret still signs beside the new one (S123). */
export const PREVIOUS_SECRET_HOURS = 24;

/** The owner in the form that core/access needs. */
export function webhookNamespace({ kind, id }: WebhookOwner): Resources["namespace"] {
  return { ownerUserId: kind === "user" ? id : null, ownerOrgId: kind === "organization" ? id : null };
}

/** The organization whose administrators see changes of the webhook in their audit log. */
export const auditOrgId = ({ kind, id }: WebhookOwner): string | null => (kind === "organization" ? id : null);

/** A short form of the target for logs and lists: never the query, which may contain a key. */
export function targetInShort({ url }: Pick<Webhook, "url">): string {
  if (url === null) return "a job";
  // The path of a relay's URL contains its key.
  if (relayTargetOf(url)) return `${new URL(url).origin}/relay/…`;
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
