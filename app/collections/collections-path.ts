import { type Collection, collectionPath } from "#core/hub/collections/collection.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { hrefWith } from "../_server/page-query.ts";

export const COLLECTIONS_PATH = "/collections";

type CollectionsQuery = Readonly<{ owner?: string; search?: string; page?: number }>;

export const collectionsPath = (query: CollectionsQuery): string => hrefWith(COLLECTIONS_PATH, query);

export function newCollectionPath(owner?: string): string {
  return hrefWith(`${COLLECTIONS_PATH}/new`, { owner });
}

export function editCollectionPath(collection: Pick<Collection, "owner" | "slug" | "id">, notice?: string): string {
  return hrefWith(`${collectionPath(collection)}/edit`, { notice });
}

export function addToCollectionPath({ type, fullName }: Pick<Repo, "type" | "fullName">): string {
  return `${COLLECTIONS_PATH}/add?${new URLSearchParams({ type, repo: fullName })}`;
}
