import type { Actor } from "#core/access/actor.ts";
import { db, pool } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { fairQueue } from "#core/fair-queue/fair-queue.ts";
import { isId } from "#core/ids.ts";
import { type AuditFilter, type AuditScope, requireAuditScope } from "./audit-query.ts";
import { type AuditPosition, type AuditRow, isSearch, readAuditEntries } from "./read-audit-entries.ts";

export const AUDIT_PAGE_SIZE = 50;

export type AuditPage = {
  entries: AuditRow[];
  olderThan?: string;
  newerThan?: string;
  /** The time at which the search stopped, if it has not read all entries. */
  searchedTo?: Date;
};

/** Searches must not take the connections that pages need. */
const searches = fairQueue({ name: "audit_searches", slots: 2 });

/** @param from the ID of an entry. An invalid ID starts at the newest entry. */
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

/** An entry outside `scope` is `not_found` (S136). */
export async function findAuditEntry(actor: Actor, scope: AuditScope, id: string): Promise<AuditRow> {
  await requireAuditScope(actor, scope);
  const at = await positionOf(id);
  if (!at) throw notFound("Entry");
  const moment = { since: at.createdAt, until: new Date(at.createdAt.getTime() + 1) };
  // The position is just after the entry, so the first entry before that position is the entry itself.
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

type AuditPlace = { seq: string; hash: string };

export async function findAuditPlace(id: string): Promise<AuditPlace | undefined> {
  const { rows } = await pool().query<AuditPlace>("SELECT seq, encode(hash, 'hex') AS hash FROM audit_seal WHERE event_id = $1", [
    id,
  ]);
  return rows[0];
}
