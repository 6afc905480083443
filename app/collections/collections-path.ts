import { type Collection, collectionPath } from "#core/hub/collections/collection.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { hrefWith } from "../_server/page-query.ts";

export const COLLECTIONS_PATH = "/collections";

type CollectionsQuery = Readonly<{ owner?: string; search?: string; page?: number }>;

/** The URL of the list of collections, with its filters. */
export const collectionsPath = (query: CollectionsQuery): string => hrefWith(COLLECTIONS_PATH, query);

/** The URL of the form of a new collection. @param owner the preselected owner */
export function newCollectionPath(owner?: string): string {
  return hrefWith(`${COLLECTIONS_PATH}/new`, { owner });
}

export function editCollectionPath(collection: Pick<Collection, "owner" | "slug" | "id">, notice?: string): string {
  return hrefWith(`${collectionPath(collection)}/edit`, { notice });
}

/** The URL of the page that adds a repository to one of the person's collections. */
export function addToCollectionPath({ type, fullName }: Pick<Repo, "type" | "fullName">): string {
  return `${COLLECTIONS_PATH}/add?${new URLSearchParams({ type, repo: fullName })}`;
}
