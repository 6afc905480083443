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
  /** The newest first. */
  deliveries: Delivery[];
  /** `cursor` for the page of older deliveries; null if there are none. */
  older: string | null;
  /** If the search ended before the page was full: the time back to which it searched. `older` continues from there. */
  searchedBackTo: Date | null;
  /** The position from which the live tail continues after this page. */
  tail: string;
};

const PAGE_DEFAULT = 25;
const PAGE_MAX = 100;

/**
 * How many deliveries one page searches for matches. No index covers a text or a status; without a bound, a filter that matches
 * nothing would read a whole month.
 */
export const SEARCH_WINDOW = 5_000;

/**
 * The deliveries of one webhook, newest first, paged by `cursor`.
 * @param of.ownerId if the URL names the webhook's owner
 * @throws ServiceError `not_found`; `invalid_request` for an invalid cursor or time
 */
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
  // Recent deliveries fill most pages, and planning a query over two days costs a fraction of one over thirty.
  const near = isSearch ? null : nearEndOf(range);
  if (near) rows = await readPage(deliveryConditions(webhookId, filter, near), limit);
  if (rows.length <= limit) rows = await readPage(conditions, limit);
  const shown = rows.slice(0, limit);
  const deliveries = shown.map(toDelivery);
  if (rows.length > limit) return { deliveries, older: shown.at(-1)?.id ?? null, searchedBackTo: null, tail };
  const end = isSearch ? await endOfSearch(conditions) : null;
  return { deliveries, older: end?.id ?? null, searchedBackTo: end?.created_at ?? null, tail };
}

/** Reads one more than the page holds, if there are that many. */
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

/** The last two days of a range; null if it is no longer than that. */
function nearEndOf({ from, before }: IdRange): IdRange | null {
  const end = before === null ? Date.now() / 1_000 : Number.parseInt(before.slice(0, 8), 16);
  const near = firstIdAt(new Date(Math.max(0, end - NEAR_SECONDS) * 1_000));
  return from !== null && from >= near ? null : { from: near, before };
}

/** The order of one webhook's deliveries, which matches the index. */
const NEWEST_FIRST = "d.webhook_id DESC, d.id DESC";

/** The last delivery that a search looks at, if there are more beyond it. */
async function endOfSearch({ source, sourceValues }: DeliveryConditions): Promise<{ id: string; created_at: Date } | null> {
  const rows = await readInOrder<{ id: string; created_at: Date }>(
    `SELECT d.id, d.created_at ${source} LIMIT 2 OFFSET ${SEARCH_WINDOW - 1}`,
    sourceValues,
  );
  return rows[1] ? (rows[0] ?? null) : null;
}

/** Turns times, a cursor and ids into a range of ids, which selects the daily partitions. */
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

/**
 * The deliveries of an event were created when it was fanned out, and a delivery's id says when the delivery was created: neither needs a
 * search.
 */
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

/** The maximum difference between the clocks of the machines that make ids. */
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

// Ids contain seconds as eight hexadecimal digits.
const LAST_SECOND = 0xffff_ffff;

function idAt(time: string, field: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) throw new ServiceError("invalid_request", "Enter a time such as 2026-11-22T10:00:00Z.", { field });
  return firstIdAt(new Date(Math.min(Math.max(at, 0), LAST_SECOND * 1_000)));
}

/**
 * Runs a query that needs the first few rows in the order of an index. The planner uses the index only if it knows how many
 * rows there are: for a day that has just begun it has no statistics, and would read and sort all of them.
 */
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
