import type { DeliveryFilter } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { type ReadableOwners, readableEvent, readableOwners } from "../../access/readable-owners.ts";
import { type Db, db } from "../../db.ts";
import { isId } from "../../ids.ts";

export type DeliveryConditions = {
  /** What is looked at, as what follows `SELECT d.*`: read in the order of ids by an index, for as long as somebody asks for more. */
  source: string;
  /** The values of `source`. */
  sourceValues: unknown[];
  /** Which of those match: no index answers these, so that the number of rows they look at has to be kept in bounds. */
  matching: string[];
  /** All values; those of `source` come first. */
  values: unknown[];
};

export type IdRange = { from: string | null; before: string | null };

/**
 * A list's filter as conditions on deliveries `d`.
 * @param readable for a token: deliveries about repositories that it could not read are not in its list
 */
export function deliveryConditions(
  webhookId: string,
  filter: DeliveryFilter,
  { from, before }: IdRange,
  readable: ReadableOwners | null = null,
): DeliveryConditions {
  // Ids are hexadecimal: "g" comes after them all.
  const values: unknown[] = [webhookId, from ?? "", before ?? "g"];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const { state, scope, action, repo, text, outcome, status } = filter;

  // What waits is found in the queue, which is small; the others by the indexes of `delivery`, two of which know these very words.
  const table = state === "waiting" ? "delivery_queue w JOIN delivery d ON d.id = w.id" : "delivery d";
  const ids = state === "waiting" ? "w" : "d";
  // Both columns in one comparison and in the order: of a webhook with much of a day's deliveries the planner would go by the id alone,
  // and read everybody's. The ids once more, for they alone lead to the days.
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

/** Anywhere in what a row says, whatever its letters' case; `%` and `_` are letters like others. */
function textCondition(words: string, bind: (value: unknown) => string): string {
  if (isId(words)) return `${bind(words)} IN (d.id, d.event_id, d.repo_id)`;
  const like = `LIKE ${bind(`%${storable(words).replace(/[\\%_]/g, "\\$&")}%`)}`;
  return `lower(d.repo_name || ' ' || d.scope || '.' || d.action || ' ' || d.scope || ' ' || d.action || ' ' || d.id) ${like}`;
}

/** Postgres holds no NUL and no half of a surrogate pair: what has one is in no row. */
const storable = (text: string): string => text.replaceAll("\0", "\u{fffd}").toWellFormed();

/** Whether a token could read what a delivery `d` is about. */
function readableDelivery(readable: ReadableOwners, bind: (value: unknown) => string): string {
  const { strings, values } = readableEvent(readable);
  const condition = strings.reduce((text, part, at) => text + bind(values[at - 1]) + part);
  return `EXISTS (SELECT FROM event e LEFT JOIN repo r ON r.id = e.repo_id WHERE e.id = d.event_id AND ${condition})`;
}

/**
 * What a token may see of a webhook's activity: the webhook may carry more than the token could read, since a person or another app made
 * it. Null for people, who see all of it.
 */
export async function readableTo(actor: Actor, tx: Db = db()): Promise<ReadableOwners | null> {
  return actor.kind === "token" ? readableOwners(actor, "repo.read", tx) : null;
}

/** Of these deliveries, the ids of those that a token may see. */
export async function visibleTo(actor: Actor, ids: readonly string[], tx: Db = db()): Promise<Set<string>> {
  const readable = await readableTo(actor, tx);
  if (readable === null || ids.length === 0) return new Set(ids);
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT d.id FROM delivery d WHERE d.id = ANY (${ids})
      AND EXISTS (SELECT FROM event e LEFT JOIN repo r ON r.id = e.repo_id WHERE e.id = d.event_id AND ${readableEvent(readable)})`;
  return new Set(rows.map(({ id }) => id));
}
