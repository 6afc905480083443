import { hashToken } from "../../crypto/token.ts";
import { pool } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { recordsLimit } from "../../storage/limits.ts";
import { ANSWER_WAIT_MS, INBOX_MAX_BYTES, INBOX_MAX_REQUESTS } from "../relay.ts";

/** Headers keep their order and repetitions. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export type TakenRequest = {
  method: string;
  path: string;
  headers: HeaderList;
  body: Uint8Array;
  /** `tries` counts failed attempts. A delivery is in an inbox at most once. */
  delivery?: { id: string; tries: number };
};

type FoundRelay = { id: string; userId: string; isListening: boolean };

export async function findRelayByToken(token: string): Promise<FoundRelay | undefined> {
  const { rows } = await pool().query<{ id: string; user_id: string; is_listening: boolean }>({
    name: "relay-by-token",
    text: `SELECT r.id, r.user_id, coalesce(r.listening_until > now(), false) AS is_listening FROM relay r JOIN "user" u ON u.id = r.user_id
           WHERE r.token_hash = $1 AND r.closed_at IS NULL AND r.expires_at > now() AND u.disabled_at IS NULL`,
    values: [hashToken(token)],
  });
  const [row] = rows;
  return row && { id: row.id, userId: row.user_id, isListening: row.is_listening };
}

/**
 * When this returns, the request is stored durably.
 * @returns undefined if the relay is full, or all relays of the user together are
 */
export async function takeRequest(
  relayId: string,
  { method, path, headers, body, delivery }: TakenRequest,
): Promise<{ id: string; isListening: boolean } | undefined> {
  const { rows } = await pool().query<{ request_id: string | null; is_listening: boolean | null }>({
    name: "take-relay-request",
    text: "SELECT * FROM take_relay_request($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    values: [
      relayId,
      newOrderedId(),
      method,
      path,
      JSON.stringify(headers),
      Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      delivery?.id ?? null,
      delivery?.tries ?? null,
      // Callers wait a little less than this, so that a late answer still reaches them.
      ANSWER_WAIT_MS / 1_000 + 2,
      INBOX_MAX_REQUESTS,
      INBOX_MAX_BYTES,
      recordsLimit("relay"),
    ],
  });
  const [row] = rows;
  if (!row?.request_id) return undefined;
  return { id: row.request_id, isListening: row.is_listening === true };
}
