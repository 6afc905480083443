import type { EventDomain, JobSpec, WatchType } from "@keyhook/sdk";
import type { MadeWith } from "../../access/delegation.ts";
import type { Resources } from "../../access/rules.ts";
import { relayTargetOf } from "../../relay/relay-target.ts";
import type { DisabledReason } from "../vocabulary.ts";

/** Whose a webhook is. */
export type WebhookOwner = { kind: "user" | "organization"; id: string };

export type WatchedItem = {
  type: WatchType;
  /** Of the repository, the user or the organization: it stays when they are renamed or moved. */
  id: string;
  /**
   * `owner/name` of a repository, a handle otherwise, as it is called now; null for what was deleted and for what the webhook's owner
   * may not read any more. The two are not told apart: it is nobody's business whether a repository is still there that they lost.
   */
  name: string | null;
};

/** The job that a webhook runs; of its secrets only the names. */
export type WebhookJob = JobSpec & { secretNames: string[] };

export type Webhook = {
  id: string;
  owner: WebhookOwner & { handle: string };
  /** Either this or `job`. */
  url: string | null;
  job: WebhookJob | null;
  /** The run that `job` was copied from. */
  jobSourceId: string | null;
  watched: WatchedItem[];
  domains: EventDomain[];
  hasSecret: boolean;
  /** Until when the secret before this one signs as well; null where there is none (S123). */
  previousSecretUntil: Date | null;
  disabledAt: Date | null;
  disabledReason: DisabledReason | null;
  /** Since when every attempt has failed (S126). */
  failingSince: Date | null;
  /** Who made it or changed it last. */
  createdById: string | null;
  /** The app or token by which they did; null where they did so on the pages. */
  madeWith: MadeWith | null;
  createdAt: Date;
  updatedAt: Date;
  /** When an event last set it off, as far back as deliveries are kept. */
  lastTriggeredAt: Date | null;
};

/** Once a secret was replaced, the old one still signs beside the new one for so long (S123). */
export const PREVIOUS_SECRET_HOURS = 24;

/** Whose it is, as core/access asks it. */
export function webhookNamespace({ kind, id }: WebhookOwner): Resources["namespace"] {
  return { ownerUserId: kind === "user" ? id : null, ownerOrgId: kind === "organization" ? id : null };
}

/** The organization whose administrators read of it in their audit log. */
export const auditOrgId = ({ kind, id }: WebhookOwner): string | null => (kind === "organization" ? id : null);

/** Where it sends, in a few words for logs and lists: never the query, which may be a key that somebody put there. */
export function targetInShort({ url }: Pick<Webhook, "url">): string {
  if (url === null) return "a job";
  // Its path has the key of the relay.
  if (relayTargetOf(url)) return `${new URL(url).origin}/relay/…`;
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
