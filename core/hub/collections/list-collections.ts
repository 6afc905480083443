import type { Actor, Person } from "../../access/actor.ts";
import { organizationsOf } from "../../access/organizations-of.ts";
import { type ReadableOwners, readableOwners, readableWhere } from "../../access/readable-owners.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { type Db, db } from "../../db.ts";
import { invalidRequest, isServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { inSearch } from "../../postgres/in-search.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import type { Collection } from "./collection.ts";
import { countCollections, readCollections } from "./find-collection.ts";
import { type Items, readItems } from "./items.ts";

type CollectionSearch = PageRequest & {
  owners?: readonly string[];
  containing?: readonly RepoName[];
  text?: string;
};

export type ListedCollection = Collection & Items;

const ITEMS_SHOWN = 4;
/** Counting the items of a listed collection takes a permission check (S137). */
const PAGE_MAX = 30;
export const LISTED_MAX = 2_000;
export const FILTERS_MAX = 50;
const TEXT_MAX_CHARACTERS = 200;

export async function listCollections(actor: Actor, search: CollectionSearch = {}): Promise<Page<ListedCollection>> {
  const { page, pageSize, skip, take } = pageBounds({
    ...search,
    ...(search.pageSize && { pageSize: Math.min(search.pageSize, PAGE_MAX) }),
  });
  const { owners = [], containing = [] } = search;
  if (owners.length > FILTERS_MAX || containing.length > FILTERS_MAX) {
    throw invalidRequest(`Use at most ${FILTERS_MAX} owners and ${FILTERS_MAX} items in one search.`);
  }
  const readable = await readableOwners(actor, "collection.read");
  const conditions = [readableWhere("c", readable)];
  if (owners.length > 0) conditions.push(Prisma.sql`c.owner_id = ANY(${await ownerIds(owners)})`);
  const text = plainText("search", search.text ?? "", TEXT_MAX_CHARACTERS).trim();
  const from =
    containing.length > 0
      ? collectionsContaining(await readableRepoIds(actor, containing), readable)
      : owners.length > 0
        ? latestOf(Prisma.join(conditions, " AND "))
        : latest(readable);
  // With repeated letters, LIKE would take time proportional to the product of both lengths (S137).
  const has = (column: Prisma.Sql) => Prisma.sql`strpos(lower(${column}), lower(${text})) > 0`;
  if (text) conditions.push(Prisma.sql`(${has(Prisma.sql`c.title`)} OR ${has(Prisma.sql`c.description`)})`);
  const where = Prisma.join(conditions, " AND ");
  const order = owners.length === 1 ? Prisma.sql`c.position, c.updated_at DESC` : Prisma.sql`c.updated_at DESC`;
  const tail = Prisma.sql`ORDER BY ${order}, c.id LIMIT ${take} OFFSET ${skip}`;
  const read = async (tx: Db) =>
    [await readCollections(where, { tx, from, tail }), await countCollections(where, from, tx)] as const;
  const [collections, total] = await (text ? inSearch(read) : read(db()));
  const items = await readItems(
    actor,
    collections.map(({ id }) => id),
    { most: ITEMS_SHOWN },
  );
  const none: Items = { items: [], total: 0 };
  return { items: collections.map((one) => ({ ...one, ...(items.get(one.id) ?? none) })), page, pageSize, total };
}

/** S137: fifty owners may have 50,000 collections. */
const latestOf = (where: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(SELECT c.* FROM collection c WHERE ${where} ORDER BY c.updated_at DESC, c.id LIMIT ${LISTED_MAX}) c`;

/** Each part reads a range of an index. One condition for all parts would read all collections (S137). */
function latest(readable: ReadableOwners): Prisma.Sql {
  const part = (from: Prisma.Sql) => Prisma.sql`SELECT * FROM (
    SELECT c.* FROM ${from} ORDER BY c.updated_at DESC, c.id LIMIT ${LISTED_MAX}) latest`;
  const parts = [part(Prisma.sql`collection c WHERE NOT c.is_private`)];
  if (readable.isAll) parts.push(part(Prisma.sql`collection c WHERE c.is_private`));
  const owners = privateOwnersOf(readable);
  // With OFFSET, Postgres searches only the private collections of these owners.
  if (owners.length > 0)
    parts.push(part(Prisma.sql`(SELECT * FROM collection WHERE is_private AND owner_id = ANY(${owners}) OFFSET 0) c`));
  return Prisma.sql`(${Prisma.join(parts, " UNION ALL ")}) c`;
}

/** `private_of` skips private collections of strangers, which would cost time here (S137). */
function collectionsContaining(repoIds: readonly string[], readable: ReadableOwners): Prisma.Sql {
  const most = Math.ceil(LISTED_MAX / Math.max(1, repoIds.length));
  const owners = privateOwnersOf(readable);
  const part = (of: Prisma.Sql) =>
    Prisma.sql`(SELECT collection_id FROM collection_item WHERE repo_id = wanted.id AND ${of} ORDER BY added_at DESC LIMIT ${most})`;
  const parts = [part(Prisma.sql`private_of IS NULL`)];
  if (readable.isAll) parts.push(part(Prisma.sql`private_of IS NOT NULL`));
  if (owners.length > 0) parts.push(part(Prisma.sql`private_of = ANY(${owners})`));
  return Prisma.sql`(SELECT c.* FROM (
      SELECT DISTINCT collection_id FROM unnest(${[...repoIds]}::text[]) wanted(id), LATERAL (${Prisma.join(parts, " UNION ALL ")}) item) holder
    JOIN collection c ON c.id = holder.collection_id) c`;
}

const privateOwnersOf = ({ ownerIds, madeBy }: ReadableOwners): string[] => [...ownerIds, ...(madeBy?.ownerIds ?? [])];

async function ownerIds(handles: readonly string[]): Promise<string[]> {
  const found = await Promise.all(handles.map((handle) => findOwner(handle)));
  return found.flatMap((owner) => (owner ? [owner.id] : []));
}

/** A search by a hidden repository must find no collection (S136). */
async function readableRepoIds(actor: Actor, names: readonly RepoName[]): Promise<string[]> {
  const found = await Promise.all(
    names.map((name) =>
      findRepo(actor, name).catch((error: unknown) => {
        if (isServiceError(error) && error.code === "not_found") return undefined;
        throw error;
      }),
    ),
  );
  return found.flatMap((repo) => (repo ? [repo.id] : []));
}

const CHOICES_MAX = 200;

export async function listChangeableCollections(person: Person): Promise<Collection[]> {
  const [whole, made] = await Promise.all([
    organizationsOf(person, "collection.write"),
    organizationsOf(person, "collection.write", { asCreator: true }),
  ]);
  return readCollections(
    Prisma.sql`c.owner_id = ANY(${[person.userId, ...whole]}) OR (c.owner_id = ANY(${made}) AND c.created_by_id = ${person.userId})`,
    { tail: Prisma.sql`ORDER BY c.updated_at DESC, c.id LIMIT ${CHOICES_MAX}` },
  );
}
