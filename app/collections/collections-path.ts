import { type Collection, collectionPath } from "#core/hub/collections/collection.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { hrefWith } from "../_server/page-query.ts";

export const COLLECTIONS_PATH = "/collections";

type CollectionsQuery = Readonly<{ owner?: string; search?: string; page?: number }>;

export const collectionsPath = (query: CollectionsQuery): string => hrefWith(COLLECTIONS_PATH, query);

export function newCollectionPath(owner?: string): string {
  return hrefWith(`${COLLECTIONS_PATH}/new`, { owner });
}

/** A row has three forms, so a page of all items of a full collection would have 15 MB (S137). */
export const ITEMS_ON_A_PAGE = 100;

/** `position` counts from 0. */
export function editCollectionPath(
  collection: Pick<Collection, "owner" | "slug" | "id">,
  { notice, position = 0 }: { notice?: string; position?: number } = {},
): string {
  return hrefWith(`${collectionPath(collection)}/edit`, { notice, page: Math.floor(position / ITEMS_ON_A_PAGE) + 1 });
}

export function addToCollectionPath({ type, fullName }: Pick<Repo, "type" | "fullName">): string {
  return `${COLLECTIONS_PATH}/add?${new URLSearchParams({ type, repo: fullName })}`;
}
