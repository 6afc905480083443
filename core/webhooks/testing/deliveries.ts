import { eventPayloadSchema } from "@keyhook/sdk";
import { seal } from "../../crypto/seal.ts";
import { db, pool } from "../../db.ts";
import { newId, newOrderedId } from "../../ids.ts";
import { targetHost } from "../target-host.ts";
import { lanes } from "../vocabulary.ts";

type NewWebhook = { ownerId?: string; ownerKind?: "user" | "organization"; secret?: string; url: string };

export async function webhookTo({ url, secret, ownerKind = "user", ...more }: NewWebhook): Promise<string> {
  const id = newId();
  const ownerId = more.ownerId ?? (await someOwner());
  const sealed = secret === undefined ? null : seal("webhook secret", secret);
  await db().webhook.create({ data: { id, ownerId, ownerKind, url, domains: ["repo"], secret: sealed } });
  return id;
}

export async function someOwner(): Promise<string> {
  const id = newId();
  const email = `${id}@example.test`;
  const confirmed = { email, emailCanonical: email, emailVerifiedAt: new Date() };
  await db().user.create({ data: { id, username: id, fullName: id, ...confirmed } });
  return id;
}

type NewDeliveries = {
  count?: number;
  isPrivate?: boolean;
  ownerId?: string;
  repoId?: string;
  tags?: string[];
  kind?: string;
  dueIn?: number;
};

export async function queueDeliveries(webhookId: string, more: NewDeliveries = {}): Promise<string[]> {
  const { count = 1, isPrivate = false, ownerId = newId(), repoId = newId(), tags = [], kind = "first", dueIn = 0 } = more;
  const eventId = newId();
  const payload = eventPayloadSchema.parse({
    event: { scope: "repo", action: "create" },
    repo: {
      type: "model",
      name: "ada/tides",
      id: repoId,
      private: isPrivate,
      url: { web: "https://hub.example.com/ada/tides", api: "https://hub.example.com/api/models/ada/tides" },
      owner: { id: ownerId },
      tags,
    },
  });
  const event = { id: eventId, scope: "repo", action: "create", repoId, repoType: "model", ownerId, isPrivate, payload };
  await db().event.create({ data: { ...event, fannedOutAt: new Date() } });
  const webhook = await db().webhook.findUniqueOrThrow({ where: { id: webhookId } });
  const ids = Array.from({ length: count }, () => newOrderedId());
  await pool().query(
    `insert into delivery (id, webhook_id, owner_id, event_id, kind, scope, action, repo_id, repo_type, repo_name, state)
     select id, $2, $3, $4, 'event', 'repo', 'create', $5, 'model', 'ada/tides', 'waiting' from unnest($1::text[]) as id`,
    [ids, webhookId, webhook.ownerId, eventId, repoId],
  );
  await pool().query(
    `insert into delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, due_at)
     select id, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8) from unnest($1::text[]) as id`,
    [
      ids,
      webhookId,
      webhook.ownerId,
      eventId,
      targetHost(webhook.url),
      kind,
      kind === "first" ? lanes.first : lanes.again,
      dueIn,
    ],
  );
  return ids;
}
