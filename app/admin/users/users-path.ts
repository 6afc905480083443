import type { UserState } from "#core/accounts/users/list-users.ts";

export const USERS_PATH = "/admin/users";

/** The list as it stands. */
export function usersPath({
  search,
  state,
  page = 1,
}: {
  search?: string;
  state?: UserState | undefined;
  page?: number;
}): string {
  const query = new URLSearchParams({
    ...(search && { search }),
    ...(state && { state }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size > 0 ? `${USERS_PATH}?${query}` : USERS_PATH;
}

export function userPath(userId: string, notice?: string): string {
  return `${USERS_PATH}/${userId}${notice ? `?notice=${notice}` : ""}`;
}
