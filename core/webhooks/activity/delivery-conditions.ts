import type { DeliveryFilter } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { type ReadableOwners, readableEvent, readableOwners } from "../../access/readable-owners.ts";
import { type Db, db } from "../../db.ts";
import { isId } from "../../ids.ts";

export type DeliveryConditions = {
  /** The text after `SELECT d.*`. An index returns its rows in the order of IDs. */
  source: string;
  sourceValues: unknown[];
  /** No index answers these conditions, so the caller must bound the number of rows. */
  matching: string[];
  /** The values of `source` come first. */
  values: unknown[];
};

export type IdRange = { from: string | null; before: string | null };

/** @param readable set for a token, whose list leaves out repositories that the token cannot read */
export function deliveryConditions(
  webhookId: string,
  filter: DeliveryFilter,
  { from, before }: IdRange,
  readable: ReadableOwners | null = null,
): DeliveryConditions {
  // IDs are hexadecimal, so "g" sorts after all of them.
  const values: unknown[] = [webhookId, from ?? "", before ?? "g"];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const { state, scope, action, repo, text, outcome, status } = filter;

  // Waiting deliveries are found in the small queue. The two partial indexes require exactly the condition on `d.state` below.
  const table = state === "waiting" ? "delivery_queue w JOIN delivery d ON d.id = w.id" : "delivery d";
  const ids = state === "waiting" ? "w" : "d";
  // With only separate comparisons, the planner might read all webhooks' deliveries. The comparisons of IDs select partitions.
  const where = [`(${ids}.webhook_id, ${ids}.id) >= ($1, $2) AND (${ids}.webhook_id, ${ids}.id) < ($1, $3)`];
  if (from !== null) where.push(`${ids}.id >= $2`);
  if (before !== null) where.push(`${ids}.id < $3`);
  if (state === "failed") where.push("d.state = 'failed'");
  if (state === "rate_limited" || state === "withheld") {
    where.push(`d.state IN ('rate_limited', 'withheld') AND d.state = '${state}'`);
  }
  const source = `FROM ${table} WHERE ${where.join(" AND ")} ORDER BY ${ids}.webhook_id DESC, ${ids}.id DESC`;
  const sourceValues = [...values];

  const matching: string[] = [];
  if (state === "delivered") matching.push("d.state = 'delivered'");
  if (scope !== undefined) matching.push(`d.scope = ${bind(scope)}`);
  if (action !== undefined) matching.push(`d.action = ${bind(action)}`);
  if (outcome !== undefined) matching.push(`d.last_outcome = ${bind(outcome)}`);
  if (status !== undefined) matching.push(statusCondition(status, bind));
  if (repo !== undefined) {
    matching.push(isId(repo) ? `d.repo_id = ${bind(repo)}` : `lower(d.repo_name) = lower(${bind(storable(repo))})`);
  }
  const words = text?.trim().toLowerCase() ?? "";
  if (words !== "") matching.push(textCondition(words, bind));
  if (readable) matching.push(readableDelivery(readable, bind));
  return { source, sourceValues, matching, values };
}

function statusCondition(status: string, bind: (value: unknown) => string): string {
  const least = Number(status.replace("xx", "00"));
  return `d.last_status BETWEEN ${bind(least)} AND ${bind(status.endsWith("xx") ? least + 99 : least)}`;
}

function textCondition(words: string, bind: (value: unknown) => string): string {
  if (isId(words)) return `${bind(words)} IN (d.id, d.event_id, d.repo_id)`;
  const like = `LIKE ${bind(`%${storable(words).replace(/[\\%_]/g, "\\$&")}%`)}`;
  return `lower(d.repo_name || ' ' || d.scope || '.' || d.action || ' ' || d.scope || ' ' || d.action || ' ' || d.id) ${like}`;
}

/** Postgres cannot store a NUL or an unpaired surrogate. */
const storable = (text: string): string => text.replaceAll("\0", "\u{fffd}").toWellFormed();

function readableDelivery(readable: ReadableOwners, bind: (value: unknown) => string): string {
  const { strings, values } = readableEvent(readable);
  const condition = strings.reduce((text, part, at) => text + bind(values[at - 1]) + part);
  return `EXISTS (SELECT FROM event e LEFT JOIN repo r ON r.id = e.repo_id WHERE e.id = d.event_id AND ${condition})`;
}

/**
 * A webhook may send events of repositories that the token cannot read.
 * @returns null if the actor is not a token
 */
export async function readableTo(actor: Actor, tx: Db = db()): Promise<ReadableOwners | null> {
  return actor.kind === "token" ? readableOwners(actor, "repo.read", tx) : null;
}

export async function visibleTo(actor: Actor, ids: readonly string[], tx: Db = db()): Promise<Set<string>> {
  const readable = await readableTo(actor, tx);
  if (readable === null || ids.length === 0) return new Set(ids);
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT d.id FROM delivery d WHERE d.id = ANY (${ids})
      AND EXISTS (SELECT FROM event e LEFT JOIN repo r ON r.id = e.repo_id WHERE e.id = d.event_id AND ${readableEvent(readable)})`;
  return new Set(rows.map(({ id }) => id));
}
