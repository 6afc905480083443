import { pool } from "../../db.ts";
import { isId } from "../../ids.ts";
import { requestHeaders } from "../../outbound/request-headers.ts";
import type { AttemptKind, AttemptOutcome } from "../vocabulary.ts";
import { hiding, MASK, maskHeaders } from "./mask-headers.ts";
import { type Content, readableContent } from "./readable-content.ts";

export type Attempt = {
  id: string;
  number: number;
  kind: AttemptKind;
  startedAt: Date;
  outcome: AttemptOutcome;
  reason: string | null;
  /** What was sent, without the body; null if nothing was sent, and for a job. */
  request: { method: "POST"; url: string; headers: Record<string, string> } | null;
  status: number | null;
  response: { headers: Record<string, string>; body: Content } | null;
  timings: {
    isReused: boolean;
    dnsMs: number | null;
    connectMs: number | null;
    tlsMs: number | null;
    firstByteMs: number | null;
    bodyMs: number | null;
    totalMs: number;
  };
  nextDueAt: Date | null;
  jobRunId: string | null;
};

type Row = {
  id: string;
  number: number;
  kind: AttemptKind;
  started_at: Date;
  outcome: AttemptOutcome;
  reason: string | null;
  url: string | null;
  signature: string | null;
  status: number | null;
  response_headers: Record<string, string> | null;
  response_body: Buffer | null;
  is_body_cut: boolean;
  is_reused: boolean;
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  first_byte_ms: number | null;
  total_ms: number;
  next_due_at: Date | null;
  job_run_id: string | null;
};

/** At most 64 KiB each. */
const PAGE = 20;

/** A delivery's attempts, the latest first. @param before an attempt's id @param secrets to be masked if the target sent them back */
export async function listAttempts(
  delivery: { id: string; kind: string },
  { before, secrets }: { before?: string | undefined; secrets: readonly string[] },
): Promise<{ attempts: Attempt[]; older: string | null }> {
  const { rows } = await pool().query<Row>({
    name: "list-attempts",
    text: `SELECT * FROM attempt WHERE delivery_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT ${PAGE + 1}`,
    // No attempt is from a day before its delivery's. An id begins with hexadecimal digits: "g" sorts after them all.
    values: [delivery.id, sinceOf(delivery.id), isId(before) ? before : "g"],
  });
  const hide = hiding(secrets);
  const shown = rows.slice(0, PAGE);
  return {
    attempts: shown.map((row) => toAttempt(row, delivery, hide)),
    older: rows.length > PAGE ? (shown.at(-1)?.id ?? null) : null,
  };
}

/** The first id that an attempt of a delivery can have: some minutes before the delivery's, since clocks differ. */
function sinceOf(deliveryId: string): string {
  const seconds = Math.max(0, Number.parseInt(deliveryId.slice(0, 8), 16) - CLOCKS_APART_SECONDS);
  return seconds.toString(16).padStart(8, "0");
}

const CLOCKS_APART_SECONDS = 300;

function toAttempt(row: Row, delivery: { id: string; kind: string }, hide: (text: string) => string): Attempt {
  const headers = row.response_headers ?? {};
  const { isCut, contentType } = { isCut: row.is_body_cut, contentType: headers["content-type"] };
  return {
    ...{ id: row.id, number: row.number, kind: row.kind, startedAt: row.started_at },
    ...{ outcome: row.outcome, reason: row.reason, status: row.status },
    request: row.url === null ? null : { method: "POST", url: row.url, headers: sentHeaders(row, delivery) },
    response:
      row.status === null || row.job_run_id !== null
        ? null
        : {
            headers: maskHeaders(headers, hide),
            body: readableContent(row.response_body ?? Buffer.alloc(0), { contentType, isCut, hide }),
          },
    timings: timingsOf(row),
    ...{ nextDueAt: row.next_due_at, jobRunId: row.job_run_id },
  };
}

/** The headers of the attempt's request; all but the secret is stored. */
function sentHeaders({ started_at, signature, kind }: Row, delivery: { id: string; kind: string }): Record<string, string> {
  return {
    ...requestHeaders({ "content-type": "application/json" }),
    "webhook-id": delivery.id,
    "webhook-timestamp": String(Math.floor(started_at.getTime() / 1_000)),
    ...(signature !== null && { "webhook-signature": signature, "x-webhook-secret": MASK }),
    ...(delivery.kind === "test" && { "x-webhook-test": "true" }),
    ...(kind === "replay" && { "x-webhook-replay": "true" }),
  };
}

function timingsOf(row: Row): Attempt["timings"] {
  const before = (row.dns_ms ?? 0) + (row.connect_ms ?? 0) + (row.tls_ms ?? 0) + (row.first_byte_ms ?? 0);
  return {
    isReused: row.is_reused,
    dnsMs: row.dns_ms,
    connectMs: row.connect_ms,
    tlsMs: row.tls_ms,
    firstByteMs: row.first_byte_ms,
    // Each is rounded separately.
    bodyMs: row.first_byte_ms === null ? null : Math.max(0, row.total_ms - before),
    totalMs: row.total_ms,
  };
}
