import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, pool } from "../../db.ts";
import { invalidRequest, notFound, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { recordsLimit } from "../../storage/limits.ts";
import {
  isRelayOf,
  RECORDED_BODY_MAX_BYTES,
  RELAY_ANSWER_CHANNEL,
  RELAY_BODY_MAX_BYTES,
  RELAY_CHANNEL,
  RELAY_DELIVERY_CHANNEL,
} from "../relay.ts";
import type { HeaderList } from "./take-request.ts";

type GivenAnswer = { status: number; headers: HeaderList; body: Buffer };

const HEADERS_MAX_BYTES = 32 * 1024;

/** Stores only the part of a delivery's answer that an attempt shows. If the user's relays are full, stores only the status. */
export async function answerRequest(
  actor: Actor,
  { userId, name, requestId }: { userId: string; name: string; requestId: string },
  answer: GivenAnswer,
): Promise<void> {
  await requirePermission(actor, "relay.manage", { userId }, { what: "Request" });
  if (!isId(requestId)) throw notFound("Request");
  const { status, headers, body } = checked(answer);
  const texts = JSON.stringify(headers);
  const recorded = body.subarray(0, RECORDED_BODY_MAX_BYTES + 1);
  const { text, values } = Prisma.sql`
    WITH found AS (
      SELECT q.id, q.relay_id, q.delivery_id IS NOT NULL AS is_delivery, coalesce(${recordsLimit("relay")}::bigint
          >= ${recorded.length + texts.length} + (SELECT sum(bytes) FROM storage_use WHERE owner_id = r.user_id AND kind = 'relay'), true) AS has_room
      FROM relay_request q JOIN relay r ON r.id = q.relay_id
      WHERE q.id = ${requestId} AND r.user_id = ${userId} AND r.name = ${name.replaceAll("\0", "")} AND ${isRelayOf(actor)}
        AND q.answered_at IS NULL FOR UPDATE OF q
    ), notified AS (
      UPDATE relay_request q SET answered_at = now(), status = ${status},
        answer_headers = CASE WHEN is_delivery AND NOT has_room THEN '[]' ELSE ${texts}::json END,
        answer_body = CASE WHEN NOT is_delivery THEN ${body} WHEN has_room THEN ${recorded} ELSE ''::bytea END,
        bytes = bytes + CASE WHEN is_delivery AND NOT has_room THEN 0 ELSE ${texts.length}::int END
      FROM found WHERE q.id = found.id AND (q.delivery_id IS NOT NULL OR q.waited_until > now())
      RETURNING q.id, q.delivery_id
    ), forgotten AS (
      DELETE FROM relay_request q USING found WHERE q.id = found.id AND q.delivery_id IS NULL AND coalesce(q.waited_until <= now(), true)
    )
    SELECT found.id AS found, pg_notify(${RELAY_ANSWER_CHANNEL}, found.id), pg_notify(${RELAY_CHANNEL}, found.relay_id),
      (SELECT pg_notify(${RELAY_DELIVERY_CHANNEL}, '') FROM notified WHERE notified.delivery_id IS NOT NULL) FROM found`;
  const { rows } = await pool().query<{ found: string }>(text, values as unknown[]);
  if (rows.length === 0) throw notFound("Request");
}

/** A line break in a value would start another header, so the handler's author gets an error. */
function checked({ status, headers, body }: GivenAnswer): GivenAnswer {
  const refuse = (field: string, sentence: string) => invalidRequest(sentence, field);
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw refuse("status", "A status must be a number from 200 to 599.");
  if (body.length > RELAY_BODY_MAX_BYTES) {
    throw new ServiceError("payload_too_large", `A response can be at most ${RELAY_BODY_MAX_BYTES / 1024 ** 2} MiB.`);
  }
  let bytes = 0;
  for (const [name, value] of headers) {
    bytes += name.length + value.length;
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw refuse("headers", "One of the headers has an invalid name.");
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw refuse("headers", `The header ${name} contains characters that cannot be sent.`);
  }
  if (bytes > HEADERS_MAX_BYTES) throw refuse("headers", "A response can have at most 32 KiB of headers.");
  return { status, headers, body };
}

export async function failRequest(requestId: string, why: string): Promise<void> {
  await pool().query(
    `WITH notified AS (
       UPDATE relay_request SET answered_at = now(), failure = $2 WHERE id = $1 AND answered_at IS NULL RETURNING id
     )
     SELECT pg_notify('${RELAY_ANSWER_CHANNEL}', id), pg_notify('${RELAY_DELIVERY_CHANNEL}', '') FROM notified`,
    [requestId, why],
  );
}

export async function abandonRequests(tx: Db, relayId: string, why: string): Promise<void> {
  await tx.$executeRaw`
    WITH notified AS (
      UPDATE relay_request SET answered_at = now(), failure = ${why}
      WHERE relay_id = ${relayId} AND answered_at IS NULL AND (delivery_id IS NOT NULL OR waited_until > now())
      RETURNING id
    )
    SELECT pg_notify(${RELAY_ANSWER_CHANNEL}, id), pg_notify(${RELAY_DELIVERY_CHANNEL}, '') FROM notified`;
  await tx.$executeRaw`DELETE FROM relay_request WHERE relay_id = ${relayId} AND answered_at IS NULL`;
}
