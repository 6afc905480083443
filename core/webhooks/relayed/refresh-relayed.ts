import { hashToken } from "../../crypto/token.ts";
import { pool } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { log } from "../../log.ts";
import { requestHeaders } from "../../outbound/request-headers.ts";
import type { HeaderList } from "../../relay/inbox/take-request.ts";
import { relayTargetOf } from "../../relay/relay-target.ts";
import { deliveryHeaders } from "../delivery/delivery-headers.ts";
import { mayBeTold } from "../may-be-told.ts";

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
 * The headers of a delivery that waited in a relay's inbox, at its hand-over: signed now, since receivers refuse old signatures
 * (S140).
 * @returns undefined if it may no longer be handed over: its webhook is gone, was disabled or points elsewhere, or its owner
 * may not read the repository (S129)
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
      ${mayBeTold()} AS may_read
    FROM delivery d JOIN webhook w ON w.id = d.webhook_id JOIN event e ON e.id = d.event_id LEFT JOIN repo r ON r.id = e.repo_id
    WHERE d.id = ${request.deliveryId}`;
  const { rows } = await pool().query<Row>({ name: "refresh-relayed", text, values: values as unknown[] });
  const [row] = rows;
  // The engine decides what happens next: it is held, sent to the new URL, or withheld.
  if (!row?.may_read || (row.is_disabled && !row.is_test) || !leadsTo(row)) return undefined;
  try {
    const { headers } = deliveryHeaders(
      {
        id: request.deliveryId,
        // A requested replay stays one.
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
      "a webhook's secret cannot be read: what waits in a relay is not handed over",
    );
    return undefined;
  }
}

function leadsTo({ url, token_hash }: Row): boolean {
  const relay = url === null ? undefined : relayTargetOf(url);
  return relay !== undefined && hashToken(relay.token) === token_hash;
}
