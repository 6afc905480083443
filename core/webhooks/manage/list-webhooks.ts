import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { readWebhooks } from "./read-webhooks.ts";
import { type Webhook, type WebhookOwner, webhookNamespace } from "./webhook.ts";

/**
 * All webhooks of a user or an organization, the oldest first; there are at most WEBHOOKS_MAX_PER_OWNER.
 * @throws ServiceError `not_found` (an organization whose webhooks they may not see), `insufficient_scope`
 */
export async function listWebhooks(actor: Actor, owner: WebhookOwner): Promise<Webhook[]> {
  const what = owner.kind === "organization" ? "Organization" : "Account";
  await requirePermission(actor, "webhook.read", webhookNamespace(owner), { what });
  return readWebhooks(Prisma.sql`w.owner_id = ${owner.id}`, { actor });
}
