import type { AuditToken } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import type { AuditScope } from "./audit-scope.ts";
import type { AuditFilter } from "./parse-audit-query.ts";

/** An entry with names for what it refers to. */
export type AuditRow = {
  id: string;
  type: string;
  data: unknown;
  ip: string | null;
  userAgent: string | null;
  token: AuditToken | null;
  /** Whether the token is gone or revoked by now; null where that is not known. */
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

/** A place in the order of the log. */
export type AuditPosition = { createdAt: Date; id: string };

export type AuditRead = {
  filter: AuditFilter;
  limit: number;
  /** Only what is older, or only what is newer, than this entry. */
  before?: AuditPosition | undefined;
  after?: AuditPosition | undefined;
};

/**
 * Entries of a part of the log, the newest first; with `after`, those next to it. Each part has an index in this order, so that a page
 * costs the same wherever it is and however long the log has become.
 */
export async function readAuditEntries(scope: AuditScope, { filter, limit, before, after }: AuditRead): Promise<AuditRow[]> {
  const direction = after && !before ? Prisma.sql`ASC` : Prisma.sql`DESC`;
  const conditions = Prisma.join(
    [
      ...(await conditionsOf(filter)),
      ...(before ? [Prisma.sql`(e.created_at, e.id) < (${before.createdAt}, ${before.id})`] : []),
      ...(after ? [Prisma.sql`(e.created_at, e.id) > (${after.createdAt}, ${after.id})`] : []),
      Prisma.sql`true`,
    ],
    " AND ",
  );
  const order = Prisma.sql`ORDER BY e.created_at ${direction}, e.id ${direction} LIMIT ${limit}`;
  // Each branch by its own index; together they are few.
  const branches = branchesOf(scope).map(
    (part) => Prisma.sql`(SELECT e.* FROM audit_event e WHERE ${part} AND ${conditions} ${order})`,
  );
  const rows = await db().$queryRaw<AuditRow[]>`
    SELECT e.id, e.type, e.data, e.ip, e.user_agent AS "userAgent", e.token, e.created_at AS "createdAt",
           e.actor_id AS "actorId", actor.username AS "actorName", e.subject_id AS "subjectId", subject.username AS "subjectName",
           e.client_id AS "clientId", coalesce(app.name, document.metadata ->> 'client_name') AS "clientName",
           e.org_id AS "orgId", org.name AS "orgName",
           CASE WHEN e.token ->> 'type' = 'personal' THEN own.id IS NULL OR own.revoked_at IS NOT NULL END AS "isTokenGone"
      FROM (${Prisma.join(branches, " UNION ")}) e
      LEFT JOIN "user" actor ON actor.id = e.actor_id
      LEFT JOIN "user" subject ON subject.id = e.subject_id
      LEFT JOIN oauth_app app ON app.client_id = e.client_id
      LEFT JOIN oauth_client_document document ON document.client_id = e.client_id
      LEFT JOIN organization org ON org.id = e.org_id
      LEFT JOIN personal_access_token own ON own.id = e.token ->> 'id'
     ${order}`;
  if (after && !before) rows.reverse();
  return scope.kind === "person" ? rows.map((row) => withoutOthers(row, scope.userId)) : rows;
}

function branchesOf(scope: AuditScope): Prisma.Sql[] {
  if (scope.kind === "organization") return [Prisma.sql`e.org_id = ${scope.orgId}`];
  if (scope.kind === "installation") return [Prisma.sql`true`];
  return [Prisma.sql`e.actor_id = ${scope.userId}`, Prisma.sql`e.subject_id = ${scope.userId}`];
}

async function conditionsOf({ author, ip, types, since, until, words }: AuditFilter): Promise<Prisma.Sql[]> {
  return [
    ...(author === undefined ? [] : [await authorCondition(author)]),
    ...(ip === undefined ? [] : [Prisma.sql`e.ip = ${ip}`]),
    ...(types.length === 0 ? [] : [typeCondition(types)]),
    ...(since ? [Prisma.sql`e.created_at >= ${since}`] : []),
    ...(until ? [Prisma.sql`e.created_at < ${until}`] : []),
    ...words.map((word) => {
      const pattern = `%${word.replace(/[\\%_]/g, "\\$&")}%`;
      return Prisma.sql`(e.data::text ILIKE ${pattern} OR e.type ILIKE ${pattern} OR e.user_agent ILIKE ${pattern} OR e.client_id ILIKE ${pattern})`;
    }),
  ];
}

async function authorCondition(author: string): Promise<Prisma.Sql> {
  if (author === "system") return Prisma.sql`e.actor_id IS NULL`;
  const handle = await db().handle.findUnique({ where: { handle: author.toLowerCase() }, select: { userId: true } });
  // Somebody who is gone is found by the id that their entries show.
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

/** In a person's own log: where others were when they did something to that person is the others' affair. */
function withoutOthers(row: AuditRow, userId: string): AuditRow {
  return row.actorId === userId ? row : { ...row, ip: null, userAgent: null, token: null, isTokenGone: null };
}
