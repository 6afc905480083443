import type { AppState } from "#core/oauth/apps/list-all-apps.ts";

export type AppsQuery = Readonly<{ search: string; state: AppState | undefined; page?: number }>;

export const APPS_PATH = "/admin/apps";

/** The list as it stands, to come back to after a change. */
export function appsPath({ search, state, page = 1 }: AppsQuery, notice?: string): string {
  const query = new URLSearchParams({
    ...(search && { search }),
    ...(state && { state }),
    ...(page > 1 && { page: String(page) }),
    ...(notice && { notice }),
  });
  return query.size > 0 ? `${APPS_PATH}?${query}` : APPS_PATH;
}
