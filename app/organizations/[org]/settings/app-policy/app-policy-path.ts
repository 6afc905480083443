import type { OrganizationAppState } from "#core/oauth/app-policy/list-organization-apps.ts";
import { organizationPath } from "../../../../_server/organization-page.ts";

export type AppPolicyQuery = Readonly<{ search?: string; state?: OrganizationAppState | undefined; page?: number }>;

/** The list as it stands, to come back to after a change. */
export function appPolicyPath(name: string, { search, state, page = 1 }: AppPolicyQuery = {}): string {
  const query = new URLSearchParams({
    ...(search && { search }),
    ...(state && { state }),
    ...(page > 1 && { page: String(page) }),
  });
  const path = organizationPath(name, "settings/app-policy");
  return query.size > 0 ? `${path}?${query}` : path;
}
