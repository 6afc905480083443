import type { TokenHolder } from "../../access/actor.ts";
import type { WebhookOwner } from "./webhook.ts";

/** Whose webhooks a program means by its own: its user's, or for a token exchanged for an organization, that organization's. */
export function ownWebhooksOf({ userId, boundOrgId }: TokenHolder): WebhookOwner {
  return boundOrgId === undefined ? { kind: "user", id: userId } : { kind: "organization", id: boundOrgId };
}
