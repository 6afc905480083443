import { pathSegment } from "../../_server/path-segment.ts";

export type StorageQuery = Readonly<{ search?: string; kind?: "user" | "organization" | undefined; page?: number }>;

export const STORAGE_PATH = "/admin/storage";

/** The list as it stands. */
export function storagePath({ search, kind, page = 1 }: StorageQuery = {}): string {
  const query = new URLSearchParams({
    ...(search && { search }),
    ...(kind && { kind }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size > 0 ? `${STORAGE_PATH}?${query}` : STORAGE_PATH;
}

/** Where the quota of one is changed. */
export const storageQuotaPath = (handle: string): string => `${STORAGE_PATH}/${pathSegment(handle)}`;
