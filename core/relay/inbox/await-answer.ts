import { pool } from "../../db.ts";
import { log } from "../../log.ts";
import { listen } from "../../notifications.ts";
import { ANSWER_WAIT_MS, RELAY_ANSWER_CHANNEL } from "../relay.ts";
import type { HeaderList } from "./take-request.ts";

export type HandlerAnswer =
  | { kind: "answered"; status: number; headers: HeaderList; body: Buffer }
  | { kind: "failed"; reason: string };

const POLL_MS = 1_000;

const waiters = new Map<string, () => void>();
let polling: NodeJS.Timeout | undefined;

/** @returns undefined if the time is over or `signal` aborts. After that, the request has no waiting caller. */
export async function awaitAnswer(
  requestId: string,
  { waitMs = ANSWER_WAIT_MS, signal }: { waitMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<HandlerAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiters.set(requestId, resolve);
  const timer = setTimeout(resolve, waitMs);
  signal?.addEventListener("abort", () => resolve(), { once: true });
  if (signal?.aborted) resolve();
  try {
    await listen(RELAY_ANSWER_CHANNEL, announce);
    polling ??= setInterval(poll, POLL_MS).unref();
    poll();
    await promise;
    return await takeAnswer(requestId);
  } finally {
    clearTimeout(timer);
    waiters.delete(requestId);
    if (waiters.size === 0) {
      clearInterval(polling);
      polling = undefined;
    }
  }
}

function announce(requestId: string): void {
  if (requestId === "") poll();
  else waiters.get(requestId)?.();
}

let isPolling = false;

function poll(): void {
  if (isPolling || waiters.size === 0) return;
  isPolling = true;
  pool()
    .query<{ id: string }>({
      name: "relay-answers",
      text: "SELECT i.id FROM unnest($1::text[]) AS i(id) LEFT JOIN relay_request q ON q.id = i.id WHERE q.id IS NULL OR q.answered_at IS NOT NULL",
      values: [[...waiters.keys()]],
    })
    .then(({ rows }) => {
      for (const { id } of rows) waiters.get(id)?.();
    })
    .catch((error: unknown) => log().debug({ err: error }, "cannot look for answers of relays; trying again"))
    .finally(() => {
      isPolling = false;
    });
}

type Row = { status: number | null; answer_headers: HeaderList | null; answer_body: Buffer | null; failure: string | null };

/** One statement takes the answer or ends the waiting, so that a later answer finds the request without a caller. */
async function takeAnswer(requestId: string): Promise<HandlerAnswer | undefined> {
  const { rows } = await pool().query<Row>({
    name: "take-relay-answer",
    text: `WITH taken AS (DELETE FROM relay_request WHERE id = $1 AND answered_at IS NOT NULL RETURNING *),
             no_longer_awaited AS (
               UPDATE relay_request SET waited_until = NULL, is_from_inbox = TRUE WHERE id = $1 AND answered_at IS NULL
             )
           SELECT status, answer_headers, answer_body, failure FROM taken`,
    values: [requestId],
  });
  return rows[0] && answerOf(rows[0]);
}

function answerOf({ status, answer_headers: headers, answer_body: body, failure }: Row): HandlerAnswer {
  if (status === null) return { kind: "failed", reason: failure ?? "the relay was closed" };
  return { kind: "answered", status, headers: headers ?? [], body: body ?? Buffer.alloc(0) };
}

type EarlierAnswer = HandlerAnswer & {
  milliseconds: number;
};

type EarlierRow = Row & { milliseconds: number };

const columns = `status, answer_headers, answer_body, failure,
  round(extract(epoch FROM answered_at - coalesce(handed_at, answered_at)) * 1000)::int AS milliseconds`;

/** For a delivery whose answer came after its attempt. The row stays, because recording the answer may have to be retried. */
export async function recordedAnswer(deliveryId: string): Promise<EarlierAnswer | undefined> {
  const { rows } = await pool().query<EarlierRow>({
    name: "recorded-relay-answer",
    text: `SELECT ${columns} FROM relay_request WHERE delivery_id = $1 AND queued_at IS NOT NULL ORDER BY answered_at DESC LIMIT 1`,
    values: [deliveryId],
  });
  return earlierAnswerOf(rows[0]);
}

/** For a caller that waited, but ended before it read the answer. */
export async function takeEarlierAnswer(deliveryId: string): Promise<EarlierAnswer | undefined> {
  const { rows } = await pool().query<EarlierRow>({
    name: "earlier-relay-answer",
    text: `DELETE FROM relay_request WHERE delivery_id = $1 AND answered_at IS NOT NULL AND queued_at IS NULL RETURNING ${columns}`,
    values: [deliveryId],
  });
  return earlierAnswerOf(rows[0]);
}

const earlierAnswerOf = (row: EarlierRow | undefined): EarlierAnswer | undefined =>
  row && { ...answerOf(row), milliseconds: Math.max(0, row.milliseconds) };
