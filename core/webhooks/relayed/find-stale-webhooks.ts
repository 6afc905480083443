import type { Actor } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { readWebhooks } from "../manage/read-webhooks.ts";
import { webhookNamespace } from "../manage/webhook.ts";

/** The webhooks that still point to a relay's old URL and that the actor may change: their own, and those of their organizations. */
export async function findStaleWebhooks(
  actor: Actor,
  userId: string,
  previousUrl: string,
): Promise<{ id: string; url: string }[]> {
  const found = await readWebhooks(
    Prisma.sql`starts_with(w.url, ${previousUrl}) AND (w.owner_id = ${userId}
      OR w.owner_id IN (SELECT org_id FROM membership WHERE user_id = ${userId}))`,
  );
  const theirs = await Promise.all(
    found.map(async ({ id, url, owner }) =>
      url !== null && (await may(actor, "webhook.manage", webhookNamespace(owner))) ? [{ id, url }] : [],
    ),
  );
  return theirs.flat();
}
