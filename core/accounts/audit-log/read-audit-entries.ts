import type { AuditEventType } from "../../audit/event-types.ts";
import type { AuditToken } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { inSearchTime } from "../../postgres/in-search.ts";
import type { AuditFilter, AuditScope } from "./audit-query.ts";

export type AuditRow = {
  id: string;
  type: string;
  data: unknown;
  ip: string | null;
  userAgent: string | null;
  token: AuditToken | null;
  isTokenGone: boolean | null;
  createdAt: Date;
  actorId: string | null;
  actorName: string | null;
  subjectId: string | null;
  subjectName: string | null;
  clientId: string | null;
  clientName: string | null;
  orgId: string | null;
  orgName: string | null;
};

export type AuditPosition = { createdAt: Date; id: string };

type AuditRead = {
  filter: AuditFilter;
  limit: number;
  before?: AuditPosition | undefined;
  after?: AuditPosition | undefined;
};

type AuditBatch = {
  rows: AuditRow[];
  end?: AuditPosition;
};

/** No index covers words or addresses, so a search without matches would read the whole log. */
const SEARCH_WINDOW = 50_000;
const WORD_SEARCH_WINDOW = 5_000;

export const isSearch = ({ author, ip, types, words }: AuditFilter): boolean =>
  author !== undefined || ip !== undefined || types.length > 0 || words.length > 0;

export async function readAuditEntries(scope: AuditScope, read: AuditRead): Promise<AuditBatch> {
  const matching = await conditionsOf(scope, read.filter);
  if (!isSearch(read.filter)) return { rows: await readRows(db(), scope, read, []) };
  return inSearchTime(async (tx) => {
    const end = await endOfSearch(tx, scope, read);
    const rows = await readRows(tx, scope, read, end ? [...matching, upTo(end, read)] : matching);
    return { rows, ...(end && { end }) };
  });
}

async function endOfSearch(tx: Db, scope: AuditScope, read: AuditRead): Promise<AuditPosition | undefined> {
  const window = read.filter.words.length > 0 ? WORD_SEARCH_WINDOW : SEARCH_WINDOW;
  const columns = Prisma.sql`e.created_at, e.id`;
  const [type, ...others] = read.filter.types;
  const indexed =
    scope.kind === "organization" && type && !type.endsWith("*") && others.length === 0 ? [typeCondition([type])] : [];
  const [last, further] = await tx.$queryRaw<AuditPosition[]>`
    SELECT e.created_at AS "createdAt", e.id FROM (${branches(scope, columns, read, indexed, window + 1)}) e
     ${orderOf(read)} OFFSET ${window - 1} LIMIT 2`;
  return further && last;
}

async function readRows(tx: Db, scope: AuditScope, read: AuditRead, matching: Prisma.Sql[]): Promise<AuditRow[]> {
  const rows = await tx.$queryRaw<AuditRow[]>`
    SELECT e.id, e.type, e.data, e.ip, e.user_agent AS "userAgent", e.token, e.created_at AS "createdAt",
           e.actor_id AS "actorId", actor.username AS "actorName", e.subject_id AS "subjectId", subject.username AS "subjectName",
           e.client_id AS "clientId", coalesce(app.name, document.metadata ->> 'client_name') AS "clientName",
           e.org_id AS "orgId", org.name AS "orgName",
           CASE WHEN e.token ->> 'type' = 'personal' THEN own.id IS NULL OR own.revoked_at IS NOT NULL END AS "isTokenGone"
      FROM (${branches(scope, Prisma.sql`e.*`, read, matching, read.limit)}) e
      LEFT JOIN "user" actor ON actor.id = e.actor_id
      LEFT JOIN "user" subject ON subject.id = e.subject_id
      LEFT JOIN oauth_app app ON app.client_id = e.client_id
      LEFT JOIN oauth_client_document document ON document.client_id = e.client_id
      LEFT JOIN organization org ON org.id = e.org_id
      LEFT JOIN personal_access_token own ON own.id = e.token ->> 'id'
     ${orderOf(read)} LIMIT ${read.limit}`;
  if (isForward(read)) rows.reverse();
  return rows.map((row) => (isOriginShown(row, scope) ? row : withoutOrigin(row)));
}

const isForward = ({ before, after }: AuditRead): boolean => after !== undefined && !before;

function orderOf(read: AuditRead): Prisma.Sql {
  return isForward(read) ? Prisma.sql`ORDER BY e.created_at, e.id` : Prisma.sql`ORDER BY e.created_at DESC, e.id DESC`;
}

const upTo = ({ createdAt, id }: AuditPosition, read: AuditRead): Prisma.Sql =>
  Prisma.sql`(e.created_at, e.id) ${isForward(read) ? Prisma.sql`<=` : Prisma.sql`>=`} (${createdAt}, ${id})`;

function branches(scope: AuditScope, columns: Prisma.Sql, read: AuditRead, matching: Prisma.Sql[], limit: number): Prisma.Sql {
  const { filter, before, after } = read;
  const conditions = Prisma.join(
    [
      ...matching,
      ...(filter.since ? [Prisma.sql`e.created_at >= ${filter.since}`] : []),
      ...(filter.until ? [Prisma.sql`e.created_at < ${filter.until}`] : []),
      ...(before ? [Prisma.sql`(e.created_at, e.id) < (${before.createdAt}, ${before.id})`] : []),
      ...(after ? [Prisma.sql`(e.created_at, e.id) > (${after.createdAt}, ${after.id})`] : []),
      Prisma.sql`true`,
    ],
    " AND ",
  );
  const parts = branchesOf(scope).map(
    (part) => Prisma.sql`(SELECT ${columns} FROM audit_event e WHERE ${part} AND ${conditions} ${orderOf(read)} LIMIT ${limit})`,
  );
  return Prisma.join(parts, " UNION ");
}

function branchesOf(scope: AuditScope): Prisma.Sql[] {
  if (scope.kind === "organization") return [Prisma.sql`e.org_id = ${scope.orgId}`];
  if (scope.kind === "installation") return [Prisma.sql`true`];
  return [Prisma.sql`e.actor_id = ${scope.userId}`, Prisma.sql`e.subject_id = ${scope.userId}`];
}

async function conditionsOf(scope: AuditScope, { author, ip, types, words }: AuditFilter): Promise<Prisma.Sql[]> {
  // Fields that are hidden cannot be searched either.
  const isShown = originShown(scope);
  return [
    ...(author === undefined ? [] : [await authorCondition(author)]),
    ...(ip === undefined ? [] : [Prisma.sql`e.ip = ${ip} AND ${isShown}`]),
    ...(types.length === 0 ? [] : [typeCondition(types)]),
    ...(words.length === 0 ? [] : [wordsCondition(words, isShown)]),
  ];
}

function wordsCondition(words: string[], isShown: Prisma.Sql): Prisma.Sql {
  const patterns = words.map((word) => Prisma.sql`lower(${`%${word.replace(/[\\%_]/g, "\\$&")}%`})`);
  const text = Prisma.sql`concat_ws(E'\n', e.data::text, e.type, e.client_id, CASE WHEN ${isShown} THEN e.user_agent END)`;
  return Prisma.sql`lower(${text}) LIKE ALL (ARRAY[${Prisma.join(patterns)}])`;
}

async function authorCondition(author: string): Promise<Prisma.Sql> {
  if (author === "system") return Prisma.sql`e.actor_id IS NULL`;
  const handle = await db().handle.findUnique({ where: { handle: author.toLowerCase() }, select: { userId: true } });
  // A deleted user is found by the ID that their entries show.
  const id = handle?.userId ?? (isId(author) ? author : undefined);
  return id ? Prisma.sql`e.actor_id = ${id}` : Prisma.sql`false`;
}

function typeCondition(types: string[]): Prisma.Sql {
  const exact = types.filter((type) => !type.endsWith("*"));
  const scopes = types.filter((type) => type.endsWith("*")).map((type) => `${type.slice(0, -1).replaceAll("_", "\\_")}%`);
  const parts = [
    ...(exact.length === 0 ? [] : [Prisma.sql`e.type = ANY (${exact})`]),
    ...scopes.map((pattern) => Prisma.sql`e.type LIKE ${pattern}`),
  ];
  return Prisma.sql`(${Prisma.join(parts, " OR ")})`;
}

/** Users who ask for access share their name and email address with the maintainers, and nothing else (S136). */
const BY_STRANGERS: readonly string[] = ["access_request.ask", "access_request.withdraw"] satisfies AuditEventType[];

/** Must decide as `originShown` does. */
function isOriginShown({ type, actorId }: AuditRow, scope: AuditScope): boolean {
  if (scope.kind === "person") return actorId === scope.userId;
  return scope.kind === "installation" || !BY_STRANGERS.includes(type);
}

function originShown(scope: AuditScope): Prisma.Sql {
  if (scope.kind === "person") return Prisma.sql`e.actor_id = ${scope.userId}`;
  return scope.kind === "installation" ? Prisma.sql`true` : Prisma.sql`e.type <> ALL (${BY_STRANGERS})`;
}

const withoutOrigin = (row: AuditRow): AuditRow => ({ ...row, ip: null, userAgent: null, token: null, isTokenGone: null });
