import { pool } from "../../db.ts";
import { RELAY_ANSWER_CHANNEL, RELAY_DELIVERY_CHANNEL } from "../relay.ts";

/** Ends a request that will have no answer. @param why a clause for its sender */
export async function failRequest(requestId: string, why: string): Promise<void> {
  await pool().query(
    `WITH told AS (
       UPDATE relay_request SET answered_at = now(), failure = $2 WHERE id = $1 AND answered_at IS NULL RETURNING id
     )
     SELECT pg_notify('${RELAY_ANSWER_CHANNEL}', id), pg_notify('${RELAY_DELIVERY_CHANNEL}', '') FROM told`,
    [requestId, why],
  );
}
