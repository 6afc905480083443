import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { TokenHolder } from "#core/access/actor.ts";
import { ownWebhooksOf } from "#core/webhooks/manage/own-webhooks-of.ts";
import type { WebhookOwner } from "#core/webhooks/manage/webhook.ts";
import { requirePersonsToken } from "../../actor.ts";
import { findPublicOwner } from "../people/find-public-owner.ts";

/** Base URLs of webhooks: the caller's own, and an organization's (docs/specification/webhooks.md#management). */
export const webhookAddresses = [
  { base: "/api/settings/webhooks", of: "of your own" },
  { base: "/api/organizations/{name}/settings/webhooks", of: "of an organization" },
] as const;

export const ownerParams = z.object({
  name: z.string().optional().openapi({ description: "The organization's handle." }),
});

export const webhookParams = ownerParams.extend({ id: z.string().openapi({ description: "24 hex digits." }) });

/** The caller, and the owner whose webhooks the URL names. */
export async function callerAndOwner(c: Context, name: string | undefined): Promise<{ actor: TokenHolder; owner: WebhookOwner }> {
  const { actor } = await requirePersonsToken(c);
  if (name === undefined) return { actor, owner: ownWebhooksOf(actor) };
  return { actor, owner: { kind: "organization", id: (await findPublicOwner(name, "organization")).id } };
}

/**
 * The caller, and a webhook's required owner: if the URL names none, the webhook's id alone decides, so that existing clients, which know
 * no other URL, can manage those of organizations too.
 */
export async function callerAndOf(c: Context, name: string | undefined): Promise<{ actor: TokenHolder; of?: string }> {
  const { actor } = await requirePersonsToken(c);
  return name === undefined ? { actor } : { actor, of: (await findPublicOwner(name, "organization")).id };
}
