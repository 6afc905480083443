import type { Actor } from "../../access/actor.ts";
import { readableOwners, readableWhere } from "../../access/readable-owners.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import type { Collection } from "./collection.ts";
import { countCollections, readCollections } from "./read-collections.ts";
import { type Items, readItems } from "./read-items.ts";

export type CollectionSearch = PageRequest & {
  /** Handles: collections of any of these owners. */
  owners?: readonly string[];
  /** Collections that contain any of these repositories. */
  containing?: readonly RepoName[];
  /** A part of the title or the description. */
  text?: string;
};

/** A collection in a list, with its first items. */
export type ListedCollection = Collection & Items;

const ITEMS_SHOWN = 4;
export const FILTERS_MAX = 50;
const TEXT_MAX_CHARACTERS = 200;

/** Collections that the actor may see: one owner's in the owner's order, all others by the latest change. */
export async function listCollections(actor: Actor, search: CollectionSearch = {}): Promise<Page<ListedCollection>> {
  const { page, pageSize, skip, take } = pageBounds(search);
  const { owners = [], containing = [] } = search;
  if (owners.length > FILTERS_MAX || containing.length > FILTERS_MAX) {
    throw new ServiceError("invalid_request", `Ask for at most ${FILTERS_MAX} at a time.`);
  }
  const conditions = [readableWhere("c", await readableOwners(actor, "collection.read"))];
  if (owners.length > 0) conditions.push(Prisma.sql`c.owner_id = ANY(${await ownerIds(owners)})`);
  if (containing.length > 0) {
    const repoIds = await readableRepoIds(actor, containing);
    conditions.push(Prisma.sql`c.id IN (SELECT collection_id FROM collection_item WHERE repo_id = ANY(${repoIds}))`);
  }
  const text = plainText("search", search.text ?? "", TEXT_MAX_CHARACTERS).trim();
  if (text) {
    const pattern = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
    conditions.push(Prisma.sql`(c.title ILIKE ${pattern} OR c.description ILIKE ${pattern})`);
  }
  const where = Prisma.join(conditions, " AND ");
  const order = owners.length === 1 ? Prisma.sql`c.position, c.updated_at DESC` : Prisma.sql`c.updated_at DESC`;
  const [collections, total] = await Promise.all([
    readCollections(where, { tail: Prisma.sql`ORDER BY ${order}, c.id LIMIT ${take} OFFSET ${skip}` }),
    countCollections(where),
  ]);
  const items = await readItems(
    actor,
    collections.map(({ id }) => id),
    { most: ITEMS_SHOWN },
  );
  const none: Items = { items: [], total: 0 };
  return { items: collections.map((one) => ({ ...one, ...(items.get(one.id) ?? none) })), page, pageSize, total };
}

async function ownerIds(handles: readonly string[]): Promise<string[]> {
  const found = await Promise.all(handles.map((handle) => findOwner(handle)));
  return found.flatMap((owner) => (owner ? [owner.id] : []));
}

/** The search finds no collection by a repository that the actor may not see (S136). */
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
