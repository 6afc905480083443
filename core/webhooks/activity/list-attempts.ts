import { pool } from "../../db.ts";
import { isId } from "../../ids.ts";
import { requestHeaders } from "../../outbound/request.ts";
import type { AttemptKind, AttemptOutcome } from "../vocabulary.ts";

export type Attempt = {
  id: string;
  number: number;
  kind: AttemptKind;
  startedAt: Date;
  outcome: AttemptOutcome;
  reason: string | null;
  /** The request without its body. Null if nothing was sent, and for a job. */
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

/** This is low, because each response may have `RESPONSE_BODY_MAX_BYTES`. */
const ATTEMPTS_ON_A_PAGE = 20;

/**
 * Lists the newest attempts first.
 * @param before the ID of an attempt, to list older ones
 * @param secrets are masked, because the target may have sent them back
 */
export async function listAttempts(
  delivery: { id: string; kind: string },
  { before, secrets }: { before?: string | undefined; secrets: readonly string[] },
): Promise<{ attempts: Attempt[]; older: string | null }> {
  const { rows } = await pool().query<Row>({
    name: "list-attempts",
    text: `SELECT * FROM attempt WHERE delivery_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT ${ATTEMPTS_ON_A_PAGE + 1}`,
    // IDs are hexadecimal, so "g" sorts after all of them.
    values: [delivery.id, sinceOf(delivery.id), isId(before) ? before : "g"],
  });
  const hide = hiding(secrets);
  const shown = rows.slice(0, ATTEMPTS_ON_A_PAGE);
  return {
    attempts: shown.map((row) => toAttempt(row, delivery, hide)),
    older: rows.length > ATTEMPTS_ON_A_PAGE ? (shown.at(-1)?.id ?? null) : null,
  };
}

/** The range begins some minutes before the delivery's ID, because clocks differ. */
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

/** The headers are not stored but made again, so `user-agent` has the current version. */
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
    bodyMs: row.first_byte_ms === null ? null : Math.max(0, row.total_ms - before),
    totalMs: row.total_ms,
  };
}

const MASK = "••••••";

/** These headers contain credentials or identify a session (S121). */
const SECRET_NAME =
  /^(set-)?cookie2?$|authori[sz]ation|authentication-info|(^|[-_])(tokens?|secrets?|passwords?|passwd|credentials?|sessions?|sessionid|sid|jwt|csrf|xsrf|nonce|signature|assertion|bearer)([-_]|$)|api[-_]?key|access[-_]?key|private[-_]?key|secret[-_]?key|auth[-_]?key|^x-auth(-|$)|^x-amz-security/i;

/** A JWT is looked for only once in each word, because a header can have thousands of possible starts (S137). */
const SECRET_VALUE = /\b(bearer|basic|digest|token|negotiate)\s+[\w~+/.=-]{8,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/gi;

/**
 * Masks credentials (S121).
 * @param hide masks the webhook's own secret, which a target may send back (S130)
 */
function maskHeaders(headers: Record<string, string>, hide: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_NAME.test(name) ? MASK : hide(String(value)).replace(SECRET_VALUE, MASK),
    ]),
  );
}

// A shorter secret may be in any response by chance, and masking it would reveal it.
const HIDEABLE_MIN_CHARACTERS = 6;

function hiding(secrets: readonly string[]): (text: string) => string {
  const spelled = secrets
    .filter((secret) => secret.length >= HIDEABLE_MIN_CHARACTERS)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  // One form may be the beginning of another, so the longest is replaced first.
  const all = [...new Set(spelled)].sort((a, b) => b.length - a.length);
  return (text) => all.reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}

type Content = { text: string | null; base64: string | null; bytes: number; isCut: boolean };

/** A body with one of these control characters is shown as bytes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for these
const NOT_IN_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

function readableContent(
  body: Uint8Array,
  { contentType, isCut, hide }: { contentType: string | undefined; isCut: boolean; hide: (text: string) => string },
): Content {
  const text = decode(body, contentType, isCut);
  const isText = text !== null && !NOT_IN_TEXT.test(text);
  return {
    text: isText ? hide(text) : null,
    base64: isText ? null : Buffer.from(body).toString("base64"),
    bytes: body.length,
    isCut,
  };
}

function decode(body: Uint8Array, contentType: string | undefined, isCut: boolean): string | null {
  const label = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? "")?.[1] ?? "utf-8";
  try {
    // A cut body may end within a character.
    return new TextDecoder(label, { fatal: true }).decode(body, { stream: isCut });
  } catch {
    return null;
  }
}
