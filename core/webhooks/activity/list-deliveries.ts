import type { DeliveryFilter } from "@keyhook/sdk";
import type pg from "pg";
import type { Actor } from "../../access/actor.ts";
import { pool, withConnection } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { firstIdAt, isId } from "../../ids.ts";
import { findWebhookRow } from "../manage/find-webhook.ts";
import { type Delivery, type DeliveryRow, deliveryColumns, toDelivery } from "./delivery.ts";
import { type DeliveryConditions, deliveryConditions, type IdRange, readableTo } from "./delivery-conditions.ts";

export type DeliveryPage = {
  deliveries: Delivery[];
  /** The `cursor` of the next page. Null if there are no older deliveries. */
  older: string | null;
  searchedBackTo: Date | null;
  tail: string;
};

const PAGE_DEFAULT = 25;
const PAGE_MAX = 100;

/** Limits searches that no index answers, such as those by text. */
export const SEARCH_WINDOW = 5_000;

export async function listDeliveries(
  actor: Actor,
  webhookId: string,
  filter: DeliveryFilter = {},
  of: { ownerId?: string | undefined } = {},
): Promise<DeliveryPage> {
  const tail = String(Date.now());
  await findWebhookRow(actor, webhookId, "webhook.read", of);
  const limit = Math.min(Math.max(Math.trunc(filter.limit ?? PAGE_DEFAULT) || 1, 1), PAGE_MAX);
  const range = await rangeOf(filter);
  const readable = await readableTo(actor);
  const conditions = deliveryConditions(webhookId, filter, range, readable);
  const isSearch = conditions.matching.length > 0;
  let rows: DeliveryRow[] = [];
  // Recent deliveries fill most pages, and planning a query over two days costs little.
  const near = isSearch ? null : nearEndOf(range);
  if (near) rows = await readPage(deliveryConditions(webhookId, filter, near), limit);
  if (rows.length <= limit) rows = await readPage(conditions, limit);
  const shown = rows.slice(0, limit);
  const deliveries = shown.map(toDelivery);
  if (rows.length > limit) return { deliveries, older: shown.at(-1)?.id ?? null, searchedBackTo: null, tail };
  const end = isSearch ? await endOfSearch(conditions) : null;
  return { deliveries, older: end?.id ?? null, searchedBackTo: end?.created_at ?? null, tail };
}

function readPage({ source, matching, values }: DeliveryConditions, limit: number): Promise<DeliveryRow[]> {
  const isSearch = matching.length > 0;
  return readInOrder<DeliveryRow>(
    `SELECT ${deliveryColumns} FROM (
       SELECT * FROM (SELECT d.* ${source} LIMIT ${isSearch ? SEARCH_WINDOW : limit + 1}) d
       ${isSearch ? `WHERE ${matching.join(" AND ")}` : ""} ORDER BY ${NEWEST_FIRST} LIMIT ${limit + 1}
     ) d LEFT JOIN delivery_queue q ON q.id = d.id ORDER BY ${NEWEST_FIRST}`,
    values,
  );
}

const NEAR_SECONDS = 2 * 86_400;

function nearEndOf({ from, before }: IdRange): IdRange | null {
  const end = before === null ? Date.now() / 1_000 : Number.parseInt(before.slice(0, 8), 16);
  const near = firstIdAt(new Date(Math.max(0, end - NEAR_SECONDS) * 1_000));
  return from !== null && from >= near ? null : { from: near, before };
}

const NEWEST_FIRST = "d.webhook_id DESC, d.id DESC";

async function endOfSearch({ source, sourceValues }: DeliveryConditions): Promise<{ id: string; created_at: Date } | null> {
  const rows = await readInOrder<{ id: string; created_at: Date }>(
    `SELECT d.id, d.created_at ${source} LIMIT 2 OFFSET ${SEARCH_WINDOW - 1}`,
    sourceValues,
  );
  return rows[1] ? (rows[0] ?? null) : null;
}

async function rangeOf({ since, until, cursor, text }: DeliveryFilter): Promise<IdRange> {
  if (cursor !== undefined && !isId(cursor)) {
    throw new ServiceError("invalid_request", "This is not a valid cursor. Use `older` from the previous page.", {
      field: "cursor",
    });
  }
  const searched = await rangeOfId(text?.trim().toLowerCase());
  return {
    from: latest(since === undefined ? null : idAt(since, "since"), searched.from),
    before: earliest(until === undefined ? null : idAt(until, "until"), cursor ?? null, searched.before),
  };
}

/** An ID contains a time, so an ID needs no search. */
async function rangeOfId(text: string | undefined): Promise<IdRange> {
  if (!isId(text)) return { from: null, before: null };
  const { rows } = await pool().query<IdRange>(
    `SELECT id AS from, id || '0' AS before FROM delivery WHERE id = $1
     UNION ALL
     SELECT lpad(to_hex(extract(epoch FROM created_at)::bigint - $2), 8, '0'),
            lpad(to_hex(extract(epoch FROM coalesce(fanned_out_at, now()))::bigint + $2), 8, '0') FROM event WHERE id = $1
     LIMIT 1`,
    [text, CLOCKS_APART_SECONDS],
  );
  return rows[0] ?? { from: null, before: null };
}

const CLOCKS_APART_SECONDS = 60;

const latest = (...ids: (string | null)[]): string | null =>
  ids
    .filter((id) => id !== null)
    .sort()
    .at(-1) ?? null;
const earliest = (...ids: (string | null)[]): string | null =>
  ids
    .filter((id) => id !== null)
    .sort()
    .at(0) ?? null;

const LAST_SECOND = 0xffff_ffff;

function idAt(time: string, field: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) throw new ServiceError("invalid_request", "Enter a time such as 2026-11-22T10:00:00Z.", { field });
  return firstIdAt(new Date(Math.min(Math.max(at, 0), LAST_SECOND * 1_000)));
}

/** For a new day, the planner has no statistics, so it would read and sort all rows. */
export async function readInOrder<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
  return withConnection(async (client) => {
    await client.query(IN_ORDER);
    const { rows } = await client.query<Row>(text, values);
    await client.query("COMMIT");
    return rows;
  });
}

const IN_ORDER = `BEGIN READ ONLY; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off;
  SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;
