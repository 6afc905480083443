import type { Actor } from "../access/actor.ts";
import { may } from "../access/may.ts";
import { hashToken } from "../crypto/token.ts";
import { pool } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { log } from "../log.ts";
import { requestHeaders } from "../outbound/request.ts";
import type { HeaderList } from "../relay/inbox/take-request.ts";
import { relayTargetOf } from "../relay/relay.ts";
import { deliveryHeaders } from "./delivery/delivery-headers.ts";
import { readWebhooks } from "./manage/read-webhooks.ts";
import { webhookNamespace } from "./manage/webhook.ts";
import { targetHost } from "./target-host.ts";
import { DELIVERY_CHANNEL, lanes } from "./vocabulary.ts";
import { mayReceive } from "./watchers.ts";

type Row = {
  secret: Buffer | null;
  previous_secret: Buffer | null;
  is_test: boolean;
  url: string | null;
  is_disabled: boolean;
  token_hash: string | null;
  may_read: boolean | null;
};

/**
 * Receivers refuse old signatures, so the delivery is signed when it is handed over (S140).
 * @returns undefined if the delivery may no longer be handed over (S129)
 */
export async function refreshRelayed(request: {
  id: string;
  deliveryId: string;
  headers: HeaderList;
  body: Buffer;
}): Promise<HeaderList | undefined> {
  const { text, values } = Prisma.sql`
    SELECT w.secret, CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END AS previous_secret, e.is_test,
      w.url, w.disabled_at IS NOT NULL AS is_disabled,
      (SELECT l.token_hash FROM relay_request q JOIN relay l ON l.id = q.relay_id WHERE q.id = ${request.id}) AS token_hash,
      ${mayReceive()} AS may_read
    FROM delivery d JOIN webhook w ON w.id = d.webhook_id JOIN event e ON e.id = d.event_id LEFT JOIN repo r ON r.id = e.repo_id
    WHERE d.id = ${request.deliveryId}`;
  const { rows } = await pool().query<Row>({ name: "refresh-relayed", text, values: values as unknown[] });
  const [row] = rows;
  // The delivery engine then holds the delivery, sends it to the new URL, or withholds it.
  if (!row?.may_read || (row.is_disabled && !row.is_test) || !leadsTo(row)) return undefined;
  try {
    const { headers } = deliveryHeaders(
      {
        id: request.deliveryId,
        // A replay that a user requested is still a replay.
        kind: request.headers.some(([name]) => name === "x-webhook-replay") ? "replay" : "first",
        webhook: { secret: row.secret, previousSecret: row.previous_secret },
        event: { isTest: row.is_test },
      },
      request.body.toString("utf8"),
      new Date(),
    );
    const anew = requestHeaders(headers);
    return [
      ...request.headers.filter(([name]) => !(name in anew) && !/^webhook-|^x-webhook-/.test(name)),
      ...Object.entries(anew),
    ];
  } catch (error) {
    log().error(
      { err: error, deliveryId: request.deliveryId },
      "a webhook's secret cannot be read: its delivery in a relay is not handed over",
    );
    return undefined;
  }
}

function leadsTo({ url, token_hash }: Row): boolean {
  const relay = url === null ? undefined : relayTargetOf(url);
  return relay !== undefined && hashToken(relay.token) === token_hash;
}

const QUEUED_MAX = 200;

/**
 * The delivery engine records the answers as attempts (S125).
 * @returns the number of deliveries
 */
export async function queueRelayed(): Promise<number> {
  const { rows } = await pool().query<{ id: string; url: string | null }>({
    name: "relayed-answers",
    text: `SELECT q.delivery_id AS id, w.url FROM relay_request q JOIN delivery d ON d.id = q.delivery_id JOIN webhook w ON w.id = d.webhook_id
           WHERE q.answered_at IS NOT NULL AND q.queued_at IS NULL AND coalesce(q.waited_until <= now(), true)
             AND NOT EXISTS (SELECT FROM delivery_queue other WHERE other.id = q.delivery_id)
           ORDER BY q.answered_at LIMIT ${QUEUED_MAX}`,
  });
  if (rows.length > 0) {
    await pool().query({
      name: "queue-relayed",
      text: `WITH answered AS (
               SELECT q.id AS request_id, q.delivery_id AS id, q.delivery_tries AS tries, given.host
               FROM unnest($1::text[], $2::text[]) AS given(id, host) JOIN relay_request q ON q.delivery_id = given.id
               WHERE q.answered_at IS NOT NULL AND q.queued_at IS NULL FOR UPDATE OF q SKIP LOCKED
             ), put AS (
               INSERT INTO delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, tries)
               SELECT a.id, d.webhook_id, d.owner_id, d.event_id, a.host, 'relay', ${lanes.first}, coalesce(a.tries, 0)
               FROM answered a JOIN delivery d ON d.id = a.id ON CONFLICT (id) DO NOTHING RETURNING id
             ), marked AS (
               UPDATE relay_request q SET queued_at = now() FROM answered a JOIN put ON put.id = a.id WHERE q.id = a.request_id
             )
             SELECT pg_notify('${DELIVERY_CHANNEL}', '') FROM put LIMIT 1`,
      values: [rows.map(({ id }) => id), rows.map(({ url }) => targetHost(url))],
    });
  }
  // Answers whose delivery is gone are deleted, because they cannot be recorded.
  await pool().query(
    `DELETE FROM relay_request q WHERE q.answered_at IS NOT NULL AND q.delivery_id IS NOT NULL AND coalesce(q.waited_until <= now(), true)
       AND NOT EXISTS (SELECT FROM delivery d JOIN webhook w ON w.id = d.webhook_id WHERE d.id = q.delivery_id)`,
  );
  return rows.length;
}

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
