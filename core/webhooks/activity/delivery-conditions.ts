import type { DeliveryFilter } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { type ReadableOwners, readableEvent, readableOwners } from "../../access/readable-owners.ts";
import { type Db, db } from "../../db.ts";
import { isId } from "../../ids.ts";

export type DeliveryConditions = {
  /** The rows to look at, as the part after `SELECT d.*`: an index returns them in the order of ids, as far as they are read. */
  source: string;
  /** The values of `source`. */
  sourceValues: unknown[];
  /** Conditions for a match. No index answers them, so the number of rows that they look at must be bounded. */
  matching: string[];
  /** The values of all conditions, starting with those of `source`. */
  values: unknown[];
};

export type IdRange = { from: string | null; before: string | null };

/**
 * Turns a list's filter into conditions on deliveries `d`.
 * @param readable for a token: its list leaves out deliveries about repositories that it cannot read
 */
export function deliveryConditions(
  webhookId: string,
  filter: DeliveryFilter,
  { from, before }: IdRange,
  readable: ReadableOwners | null = null,
): DeliveryConditions {
  // Ids are hexadecimal: "g" sorts after them all.
  const values: unknown[] = [webhookId, from ?? "", before ?? "g"];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const { state, scope, action, repo, text, outcome, status } = filter;

  // Waiting deliveries are found in the queue, which is small, the others by indexes of `delivery`. Two of these are partial, and are used
  // only with exactly the condition on `d.state` below.
  const table = state === "waiting" ? "delivery_queue w JOIN delivery d ON d.id = w.id" : "delivery d";
  const ids = state === "waiting" ? "w" : "d";
  // Both columns are in one comparison and in the order: for a webhook with most of a day's deliveries, the planner would otherwise go by
  // the id alone and read the deliveries of all webhooks. The ids are repeated because only they select the partitions.
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

/** Searches all of a row's text, ignoring case; `%` and `_` are taken literally. */
function textCondition(words: string, bind: (value: unknown) => string): string {
  if (isId(words)) return `${bind(words)} IN (d.id, d.event_id, d.repo_id)`;
  const like = `LIKE ${bind(`%${storable(words).replace(/[\\%_]/g, "\\$&")}%`)}`;
  return `lower(d.repo_name || ' ' || d.scope || '.' || d.action || ' ' || d.scope || ' ' || d.action || ' ' || d.id) ${like}`;
}

/** Postgres cannot store a NUL or an unpaired surrogate, so no row contains one. */
const storable = (text: string): string => text.replaceAll("\0", "\u{fffd}").toWellFormed();

/** Whether a token can read the repository of a delivery `d`. */
function readableDelivery(readable: ReadableOwners, bind: (value: unknown) => string): string {
  const { strings, values } = readableEvent(readable);
  const condition = strings.reduce((text, part, at) => text + bind(values[at - 1]) + part);
  return `EXISTS (SELECT FROM event e LEFT JOIN repo r ON r.id = e.repo_id WHERE e.id = d.event_id AND ${condition})`;
}

/**
 * Which of a webhook's activity a token may see: a webhook of a person or another app may carry more than the token can read.
 * Null for people, who see all of it.
 */
export async function readableTo(actor: Actor, tx: Db = db()): Promise<ReadableOwners | null> {
  return actor.kind === "token" ? readableOwners(actor, "repo.read", tx) : null;
}

/** The ids of those deliveries that a token may see. */
export async function visibleTo(actor: Actor, ids: readonly string[], tx: Db = db()): Promise<Set<string>> {
  const readable = await readableTo(actor, tx);
  if (readable === null || ids.length === 0) return new Set(ids);
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT d.id FROM delivery d WHERE d.id = ANY (${ids})
      AND EXISTS (SELECT FROM event e LEFT JOIN repo r ON r.id = e.repo_id WHERE e.id = d.event_id AND ${readableEvent(readable)})`;
  return new Set(rows.map(({ id }) => id));
}
