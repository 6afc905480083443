import { pool } from "../../db.ts";
import type { HandlerAnswer } from "./await-answer.ts";
import type { HeaderList } from "./take-request.ts";

export type EarlierAnswer = HandlerAnswer & {
  /** From the hand-over to the answer. */
  milliseconds: number;
};

type Row = {
  status: number | null;
  answer_headers: HeaderList | null;
  answer_body: Buffer | null;
  failure: string | null;
  milliseconds: number;
};

const columns = `status, answer_headers, answer_body, failure,
  round(extract(epoch FROM answered_at - coalesce(handed_at, answered_at)) * 1000)::int AS milliseconds`;

/** The answer to a delivery without a waiting caller, once it is to be recorded; it is kept for a while in case that fails. */
export async function recordedAnswer(deliveryId: string): Promise<EarlierAnswer | undefined> {
  const { rows } = await pool().query<Row>({
    name: "recorded-relay-answer",
    text: `SELECT ${columns} FROM relay_request WHERE delivery_id = $1 AND queued_at IS NOT NULL ORDER BY answered_at DESC LIMIT 1`,
    values: [deliveryId],
  });
  return toAnswer(rows[0]);
}

/** The answer to a delivery whose caller waited and never read it. */
export async function takeEarlierAnswer(deliveryId: string): Promise<EarlierAnswer | undefined> {
  const { rows } = await pool().query<Row>({
    name: "earlier-relay-answer",
    text: `DELETE FROM relay_request WHERE delivery_id = $1 AND answered_at IS NOT NULL AND queued_at IS NULL RETURNING ${columns}`,
    values: [deliveryId],
  });
  return toAnswer(rows[0]);
}

function toAnswer(row: Row | undefined): EarlierAnswer | undefined {
  if (!row) return undefined;
  const milliseconds = Math.max(0, row.milliseconds);
  if (row.status === null) return { kind: "failed", reason: row.failure ?? "the relay has ended", milliseconds };
  return {
    kind: "answered",
    status: row.status,
    headers: row.answer_headers ?? [],
    body: row.answer_body ?? Buffer.alloc(0),
    milliseconds,
  };
}
