import type { EventDomain, JobSpec, TestKind, WatchType } from "@keyhook/sdk";
import type { MadeWith } from "../../access/delegation.ts";
import type { Resources } from "../../access/rule.ts";
import { relayTargetOf } from "../../relay/relay.ts";
import type { DisabledReason } from "../vocabulary.ts";

export type WebhookOwner = { kind: "user" | "organization"; id: string };

export type WatchedItem = {
  type: WatchType;
  /** Stays the same after a rename or a move. */
  id: string;
  /**
   * Null for anything deleted or unreadable, without distinction: an owner who lost access must not learn whether a repository
   * exists.
   */
  name: string | null;
};

/** Only the names of secrets. */
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
  /** Empty for all kinds of the domains. */
  events: TestKind[];
  hasSecret: boolean;
  /** Null if no previous secret signs (S123). */
  previousSecretUntil: Date | null;
  disabledAt: Date | null;
  disabledReason: DisabledReason | null;
  /** Since when every attempt has failed (S126). */
  failingSince: Date | null;
  /** Who created the webhook, or last changed it or took it over. */
  createdById: string | null;
  /** Null if the user did so on the pages. */
  madeWith: MadeWith | null;
  createdAt: Date;
  updatedAt: Date;
  /** As far back as deliveries are kept. */
  lastTriggeredAt: Date | null;
};

/** See S123. */
export const PREVIOUS_SECRET_HOURS = 24;

export function webhookNamespace({ kind, id }: WebhookOwner): Resources["namespace"] {
  return { ownerUserId: kind === "user" ? id : null, ownerOrgId: kind === "organization" ? id : null };
}

/** This organization's administrators see changes in their audit log. */
export const auditOrgId = ({ kind, id }: WebhookOwner): string | null => (kind === "organization" ? id : null);

/** Without the query, which may contain a key. */
export function targetInShort({ url }: Pick<Webhook, "url">): string {
  if (url === null) return "a job";
  // The path of a relay's URL contains the relay's token.
  if (relayTargetOf(url)) return `${new URL(url).origin}/relay/…`;
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
