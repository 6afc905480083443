import type { EventDomain, WatchType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { describeDelegations } from "../../access/delegation.ts";
import { readableOwners, readableWhere } from "../../access/readable-owners.ts";
import { unseal } from "../../crypto/seal.ts";
import { type Db, db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { StoredSpec } from "../../jobs/runs/run.ts";
import type { DisabledReason } from "../vocabulary.ts";
import { webhookReads } from "../watchers.ts";
import type { WatchedItem, Webhook } from "./webhook.ts";

type Row = Omit<Webhook, "owner" | "watched" | "job" | "madeWith"> & {
  delegationId: string | null;
  ownerId: string;
  ownerKind: "user" | "organization";
  ownerHandle: string;
  job: StoredSpec | null;
  jobSecrets: Uint8Array | null;
  domains: EventDomain[];
  disabledReason: DisabledReason | null;
};

/**
 * Checks no permission, and returns no secret.
 * @param actor a token gets only the names of what it can read
 */
export async function readWebhooks(where: Prisma.Sql, { tx = db(), actor }: { tx?: Db; actor?: Actor } = {}): Promise<Webhook[]> {
  const rows = await tx.$queryRaw<Row[]>`
    SELECT w.id, w.owner_id AS "ownerId", w.owner_kind AS "ownerKind", coalesce(u.username, o.name, '') AS "ownerHandle", w.name, w.url, w.job,
      w.job_secrets AS "jobSecrets", w.job_source_id AS "jobSourceId", coalesce(w.domains, '{}') AS domains, coalesce(w.events, '{}') AS events,
      w.secret IS NOT NULL AS "hasSecret",
      CASE WHEN w.previous_secret IS NOT NULL AND w.previous_secret_until > now() THEN w.previous_secret_until END AS "previousSecretUntil",
      w.disabled_at AS "disabledAt", CASE WHEN w.disabled_at IS NOT NULL THEN w.disabled_reason END AS "disabledReason", w.failing_since AS "failingSince",
      w.created_by_id AS "createdById", w.delegation_id AS "delegationId", w.created_at AS "createdAt", w.updated_at AS "updatedAt", latest.created_at AS "lastTriggeredAt"
    FROM webhook w
    LEFT JOIN "user" u ON w.owner_kind = 'user' AND u.id = w.owner_id
    LEFT JOIN organization o ON w.owner_kind = 'organization' AND o.id = w.owner_id
    LEFT JOIN LATERAL ${latestDelivery} latest ON TRUE
    WHERE ${where} ORDER BY w.created_at, w.id`;
  const watched = await watchedBy(
    tx,
    rows.map(({ id }) => id),
    actor?.kind === "token" ? readableWhere("r", await readableOwners(actor, "repo.read", tx)) : Prisma.sql`TRUE`,
  );
  const madeWith = await describeDelegations(
    rows.map(({ delegationId }) => delegationId),
    tx,
  );
  return rows.map(({ ownerId, ownerKind, ownerHandle, job, jobSecrets, delegationId, ...row }) => ({
    ...row,
    madeWith: (delegationId && madeWith.get(delegationId)) || null,
    owner: { kind: ownerKind, id: ownerId, handle: ownerHandle },
    job: job && { ...job, secretNames: secretNames(jobSecrets) },
    watched: watched.get(row.id) ?? [],
  }));
}

const latestDelivery = Prisma.sql`(
  SELECT d.created_at
  FROM (SELECT max(h.hour) AS hour FROM webhook_hour h WHERE h.webhook_id = w.id AND h.triggered > 0) h
  JOIN delivery d ON d.webhook_id = w.id AND d.id >= lpad(to_hex(extract(epoch FROM h.hour)::bigint), 8, '0') AND d.kind = 'event'
  ORDER BY d.id DESC LIMIT 1)`;

type WatchRow = { webhookId: string; type: WatchType; id: string; name: string | null };

/** The name of a repository is shown only if the webhook and the actor can both read it (S129, S136). */
async function watchedBy(tx: Db, webhookIds: string[], isReadable: Prisma.Sql): Promise<Map<string, WatchedItem[]>> {
  const found = new Map<string, WatchedItem[]>();
  if (webhookIds.length === 0) return found;
  const rows = await tx.$queryRaw<WatchRow[]>`
    SELECT i.webhook_id AS "webhookId", i.type, i.target_id AS id,
      CASE WHEN i.type = 'user' THEN u.username WHEN i.type = 'org' THEN o.name ELSE named.name END AS name
    FROM webhook_watch i
    JOIN webhook w ON w.id = i.webhook_id
    LEFT JOIN "user" u ON i.type = 'user' AND u.id = i.target_id AND u.disabled_at IS NULL
    LEFT JOIN organization o ON i.type = 'org' AND o.id = i.target_id
    LEFT JOIN LATERAL (
      SELECT coalesce(ru.username, ro.name) || '/' || r.name AS name
      FROM repo r
      LEFT JOIN "user" ru ON r.owner_kind = 'user' AND ru.id = r.owner_id
      LEFT JOIN organization ro ON r.owner_kind = 'organization' AND ro.id = r.owner_id
      WHERE r.id = i.target_id AND ru.disabled_at IS NULL AND (NOT r.is_private OR ${webhookReads(Prisma.sql`r.owner_id`, Prisma.sql`r.created_by_client_id`)})
        AND ${isReadable}
    ) named ON i.type NOT IN ('user', 'org')
    WHERE i.webhook_id = ANY (${webhookIds})
    ORDER BY i.type IN ('user', 'org') DESC, i.type, lower(CASE WHEN i.type = 'user' THEN u.username WHEN i.type = 'org' THEN o.name ELSE named.name END), i.target_id`;
  for (const { webhookId, ...item } of rows) {
    const items = found.get(webhookId);
    if (items) items.push(item);
    else found.set(webhookId, [item]);
  }
  return found;
}

/** Secrets that were sealed with a lost SECRET_KEY must not make the list unreadable. */
function secretNames(sealed: Uint8Array | null): string[] {
  if (!sealed) return [];
  try {
    return Object.keys(JSON.parse(unseal("job secrets", sealed)) as Record<string, string>).sort();
  } catch {
    return [];
  }
}
