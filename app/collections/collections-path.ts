import { type Collection, collectionPath } from "#core/hub/collections/collection.ts";
import type { Repo } from "#core/hub/repos/repo.ts";

export const COLLECTIONS_PATH = "/collections";

export type CollectionsQuery = Readonly<{ search?: string; owner?: string; page?: number }>;

/** The list with what it shows. */
export function collectionsPath({ search, owner, page = 1 }: CollectionsQuery): string {
  const query = new URLSearchParams({
    ...(owner && { owner }),
    ...(search && { search }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size > 0 ? `${COLLECTIONS_PATH}?${query}` : COLLECTIONS_PATH;
}

/** Where a new one is made. @param owner preselected */
export function newCollectionPath(owner?: string): string {
  return `${COLLECTIONS_PATH}/new${owner ? `?${new URLSearchParams({ owner })}` : ""}`;
}

export function editCollectionPath(collection: Pick<Collection, "owner" | "slug" | "id">, notice?: string): string {
  return `${collectionPath(collection)}/edit${notice ? `?${new URLSearchParams({ notice })}` : ""}`;
}

/** Where a repository is put into one of one's collections. */
export function addToCollectionPath({ type, fullName }: Pick<Repo, "type" | "fullName">): string {
  return `${COLLECTIONS_PATH}/add?${new URLSearchParams({ type, repo: fullName })}`;
}
