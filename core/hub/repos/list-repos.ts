import { type RepoType, repoTypes } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { type ReadableOwners, readableOwners } from "../../access/readable-owners.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { type Db, db } from "../../db.ts";
import { invalidRequest } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { inSearch } from "../../postgres/in-search.ts";
import { readRepos } from "./read-repos.ts";
import type { Repo } from "./repo.ts";

export const REPO_LIST_MAX = 1000;
const DEFAULT_LIMIT = 30;
const SEARCH_MAX_CHARACTERS = 200;
const WORDS_MAX = 5;
const TAGS_MAX = 10;
/** A thousand large cards would be 64 MB, and a thousand lists of tags on other platforms 30 MB (S137). */
const CARDS_MAX_BYTES = 1024 * 1024;
/** The index has trigrams of letters and digits only. */
const hasTrigram = (word: string): boolean => word.length >= 3 && /[a-z0-9]/.test(word);

export type RepoQuery = {
  type?: RepoType;
  owner?: string;
  /** A word without a trigram must be the beginning of the name. */
  search?: string;
  tags?: readonly string[];
  sort?: "updated" | "created";
  isOldestFirst?: boolean;
  limit?: number;
  cursor?: string;
};

export type RepoList = { repos: Repo[]; nextCursor: string | null };

/** Searches public and private repositories separately, so that private ones of strangers cost no time. */
export async function listRepos(actor: Actor, query: RepoQuery = {}): Promise<RepoList> {
  const { sort = "updated", isOldestFirst = false, tags = [] } = query;
  const limit = bounded(query.limit);
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const { ownerHandle, words } = readSearch(query);
  const owners = await Promise.all(ownerHandle.map((handle) => findOwner(handle)));
  if (owners.some((owner) => !owner || owner.id !== owners[0]?.id)) return { repos: [], nextCursor: null };
  const order = { column: sort === "created" ? Prisma.sql`r.created_at` : Prisma.sql`r.updated_at`, isOldestFirst };
  const conditions = Prisma.join(
    [
      ...words.map(nameHas),
      ...(tags.length > 0
        ? [Prisma.sql`r.tags @> ${tags.slice(0, TAGS_MAX).map((tag) => plainText("filter", tag))}::text[]`]
        : []),
      ...(after ? [isPast(after, order)] : []),
      Prisma.sql`TRUE`,
    ],
    " AND ",
  );
  const branches = visibleBranches(await readableOwners(actor, "repo.read"), owners[0]?.id).flatMap((visible) =>
    (query.type ? [query.type] : repoTypes).map((type) => Prisma.sql`(${branch({ type, visible, conditions, order, limit })})`),
  );
  const read = (tx: Db) =>
    tx.$queryRaw<
      { id: string; bytes: number; at: Date }[]
    >`SELECT id, at, (SELECT card_bytes + octet_length(tags::text) FROM repo WHERE repo.id = found.id) AS bytes
    FROM (${Prisma.join(branches, " UNION ALL ")}) found ORDER BY at ${direction(order)}, id ${direction(order)} LIMIT ${limit + 1}`;
  const page = await (words.length > 0 || tags.length > 0 ? inSearch(read) : read(db()));
  const shown = page.slice(0, countThatFit(page, limit));
  const repos = await readRepos(Prisma.sql`r.id = ANY (${shown.map(({ id }) => id)})`, {
    tail: Prisma.sql`ORDER BY ${order.column} ${direction(order)}, r.id ${direction(order)}`,
  });
  // The page's last repository may have been deleted or moved since the search.
  const last = page.length > shown.length ? shown.at(-1) : undefined;
  return { repos, nextCursor: last ? writeCursor(last) : null };
}

function countThatFit(page: readonly { bytes: number }[], limit: number): number {
  let total = 0;
  const over = page.findIndex(({ bytes }, at) => {
    total += bytes;
    return at > 0 && total > CARDS_MAX_BYTES;
  });
  return over < 0 ? limit : Math.min(over, limit);
}

type Order = { column: Prisma.Sql; isOldestFirst: boolean };
type Branch = { type: RepoType; visible: Prisma.Sql; conditions: Prisma.Sql; order: Order; limit: number };

const direction = ({ isOldestFirst }: Order): Prisma.Sql => (isOldestFirst ? Prisma.sql`ASC` : Prisma.sql`DESC`);

function branch({ type, visible, conditions, order, limit }: Branch): Prisma.Sql {
  return Prisma.sql`SELECT r.id, ${order.column} AS at FROM repo r 
    WHERE r.type = ${type} AND ${visible} AND ${conditions}
      AND NOT EXISTS (SELECT FROM "user" u WHERE u.id = r.owner_id AND u.disabled_at IS NOT NULL)
    ORDER BY ${order.column} ${direction(order)}, r.id ${direction(order)} LIMIT ${limit + 1}`;
}

/** No repository fits two of these conditions. */
function visibleBranches({ isAll, ownerIds, madeBy, repoId }: ReadableOwners, ownerId: string | undefined): Prisma.Sql[] {
  const wanted = (ids: readonly string[]) => (ownerId === undefined ? [...ids] : ids.filter((id) => id === ownerId));
  const ofOwner = ownerId === undefined ? Prisma.sql`TRUE` : Prisma.sql`r.owner_id = ${ownerId}`;
  const branches = [Prisma.sql`NOT r.is_private AND ${ofOwner}`];
  if (isAll) return [...branches, Prisma.sql`r.is_private AND ${ofOwner}`];
  if (repoId !== null) branches.push(Prisma.sql`r.is_private AND r.id = ${repoId} AND ${ofOwner}`);
  const whole = wanted(ownerIds);
  if (whole.length > 0) branches.push(Prisma.sql`r.is_private AND r.owner_id = ANY (${whole})`);
  const inPart = wanted(madeBy?.ownerIds ?? []).filter((id) => !whole.includes(id));
  if (madeBy && inPart.length > 0) {
    branches.push(Prisma.sql`r.is_private AND r.owner_id = ANY (${inPart}) AND r.created_by_client_id = ${madeBy.clientId}`);
  }
  return branches;
}

function readSearch({ owner, search }: RepoQuery): { ownerHandle: string[]; words: string[] } {
  const text = search === undefined ? "" : plainText("search", search, SEARCH_MAX_CHARACTERS).toLowerCase().trim();
  const slash = text.indexOf("/");
  const ownerHandle = [
    ...(owner === undefined ? [] : [plainText("author", owner)]),
    ...(slash > 0 ? [text.slice(0, slash)] : []),
  ];
  const words = text
    .slice(slash + 1)
    .split(/\s+/u)
    .filter((word) => word !== "");
  return { ownerHandle, words: words.slice(0, WORDS_MAX) };
}

function nameHas(word: string): Prisma.Sql {
  const pattern = `${word.replace(/[\\%_]/g, "\\$&")}%`;
  return Prisma.sql`lower(r.name) LIKE ${hasTrigram(word) ? `%${pattern}` : pattern}`;
}

function isPast({ at, id }: Position, { column, isOldestFirst }: Order): Prisma.Sql {
  const comparison = isOldestFirst ? Prisma.sql`>` : Prisma.sql`<`;
  return Prisma.sql`(${column}, r.id) ${comparison} (${at}::timestamptz, ${id})`;
}

function bounded(limit = DEFAULT_LIMIT): number {
  return Number.isFinite(limit) && limit >= 1 ? Math.min(Math.floor(limit), REPO_LIST_MAX) : DEFAULT_LIMIT;
}

type Position = { at: Date; id: string };

const CURSOR = /^[A-Za-z0-9_-]{1,80}$/;

export function writeCursor({ at, id }: Position): string {
  return Buffer.from(`${at.getTime()}.${id}`).toString("base64url");
}

function readCursor(cursor: string): Position {
  const [milliseconds = "", id] = CURSOR.test(cursor) ? Buffer.from(cursor, "base64url").toString("latin1").split(".") : [];
  const at = new Date(/^\d{1,14}$/.test(milliseconds) ? Number(milliseconds) : Number.NaN);
  if (Number.isNaN(at.getTime()) || !isId(id)) {
    throw invalidRequest("This page does not exist. Start from the first page.", "cursor");
  }
  return { at, id };
}
