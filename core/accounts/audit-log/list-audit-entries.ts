import type { Actor } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";
import { isId } from "../../ids.ts";
import { type AuditScope, requireAuditScope } from "./audit-scope.ts";
import type { AuditFilter } from "./parse-audit-query.ts";
import { type AuditPosition, type AuditRow, isSearch, readAuditEntries } from "./read-audit-entries.ts";

export const AUDIT_PAGE_SIZE = 50;

export type AuditPage = {
  entries: AuditRow[];
  /** Ids to go on from: `before` for older entries, `after` for newer ones; absent where there are none. */
  olderThan?: string;
  newerThan?: string;
  /** How far a search came that did not look at all entries; what follows is `olderThan` it, or `newerThan`. */
  searchedTo?: Date;
};

/** Nobody's searches take the connections that others need for their pages. */
const searches = fairQueue({ name: "audit_searches", places: 2 });

/**
 * One page of a part of the log, the newest first.
 * @param from ids of entries, as an earlier page gave them; what is none begins at the top
 * @throws ServiceError `forbidden`, `not_found`; `unavailable` for a search that found no place in time, or took too long
 */
export async function listAuditEntries(
  actor: Actor,
  scope: AuditScope,
  filter: AuditFilter,
  from: { before?: string; after?: string } = {},
): Promise<AuditPage> {
  await requireAuditScope(actor, scope);
  const [before, after] = [await positionOf(from.before), from.before ? undefined : await positionOf(from.after)];
  const read = () => readAuditEntries(scope, { filter, limit: AUDIT_PAGE_SIZE + 1, before, after });
  const { rows: found, end } = await (isSearch(filter) ? searches.run(read) : read());
  const isMore = found.length > AUDIT_PAGE_SIZE;
  const entries = !isMore ? found : after ? found.slice(1) : found.slice(0, -1);
  const [first, last] = [entries[0], entries.at(-1)];
  const rest = isMore ? undefined : end;
  const newerThan = after ? (isMore ? first : rest) : before && first;
  const olderThan = after ? last : isMore ? last : rest;
  return {
    entries,
    ...(olderThan && { olderThan: olderThan.id }),
    ...(newerThan && { newerThan: newerThan.id }),
    ...(rest && { searchedTo: rest.createdAt }),
  };
}

/** One entry of a part of the log. @throws ServiceError `not_found` also for one of another part (S136), `forbidden` */
export async function findAuditEntry(actor: Actor, scope: AuditScope, id: string): Promise<AuditRow> {
  await requireAuditScope(actor, scope);
  const at = await positionOf(id);
  if (!at) throw notFound("Entry");
  const moment = { since: at.createdAt, until: new Date(at.createdAt.getTime() + 1) };
  // The very entry and nothing else: the one before a place just after it.
  const { rows } = await readAuditEntries(scope, {
    filter: { types: [], words: [], ...moment },
    limit: 1,
    before: { createdAt: at.createdAt, id: `${at.id}~` },
  });
  const [row] = rows;
  if (row?.id !== id) throw notFound("Entry");
  return row;
}

async function positionOf(id: string | undefined): Promise<AuditPosition | undefined> {
  if (id === undefined || !isId(id)) return undefined;
  return (await db().auditEvent.findUnique({ where: { id }, select: { createdAt: true, id: true } })) ?? undefined;
}
