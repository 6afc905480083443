import type { Actor } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { type AuditScope, requireAuditScope } from "./audit-scope.ts";
import type { AuditFilter } from "./parse-audit-query.ts";
import { type AuditPosition, type AuditRow, readAuditEntries } from "./read-audit-entries.ts";

export const AUDIT_PAGE_SIZE = 50;

export type AuditPage = {
  entries: AuditRow[];
  /** Ids to go on from: `before` for older entries, `after` for newer ones; absent where there are none. */
  olderThan?: string;
  newerThan?: string;
};

/**
 * One page of a part of the log, the newest first.
 * @param from ids of entries, as an earlier page gave them; what is none begins at the top
 * @throws ServiceError `forbidden`, `not_found`
 */
export async function listAuditEntries(
  actor: Actor,
  scope: AuditScope,
  filter: AuditFilter,
  from: { before?: string; after?: string } = {},
): Promise<AuditPage> {
  await requireAuditScope(actor, scope);
  const [before, after] = [await positionOf(from.before), from.before ? undefined : await positionOf(from.after)];
  const found = await readAuditEntries(scope, { filter, limit: AUDIT_PAGE_SIZE + 1, before, after });
  const isMore = found.length > AUDIT_PAGE_SIZE;
  const entries = !isMore ? found : after ? found.slice(1) : found.slice(0, -1);
  const [first, last] = [entries[0], entries.at(-1)];
  const hasNewer = after ? isMore : before !== undefined;
  const hasOlder = after ? true : isMore;
  return {
    entries,
    ...(hasOlder && last && { olderThan: last.id }),
    ...(hasNewer && first && { newerThan: first.id }),
  };
}

/** One entry of a part of the log. @throws ServiceError `not_found` also for one of another part (S136), `forbidden` */
export async function findAuditEntry(actor: Actor, scope: AuditScope, id: string): Promise<AuditRow> {
  await requireAuditScope(actor, scope);
  const at = await positionOf(id);
  if (!at) throw notFound("Entry");
  const moment = { since: at.createdAt, until: new Date(at.createdAt.getTime() + 1) };
  // The very entry and nothing else: the one before a place just after it.
  const [row] = await readAuditEntries(scope, {
    filter: { types: [], words: [], ...moment },
    limit: 1,
    before: { createdAt: at.createdAt, id: `${at.id}~` },
  });
  if (row?.id !== id) throw notFound("Entry");
  return row;
}

async function positionOf(id: string | undefined): Promise<AuditPosition | undefined> {
  if (id === undefined || !isId(id)) return undefined;
  return (await db().auditEvent.findUnique({ where: { id }, select: { createdAt: true, id: true } })) ?? undefined;
}
