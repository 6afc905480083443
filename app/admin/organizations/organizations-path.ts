import type { OrganizationPlan } from "#core/accounts/organizations/plans.ts";
import { pathSegment } from "../../_server/path-segment.ts";

export type OrganizationsQuery = Readonly<{ search?: string; plan?: OrganizationPlan | "none" | undefined; page?: number }>;

export const ORGANIZATIONS_PATH = "/admin/organizations";

/** The list as it stands. */
export function organizationsPath({ search, plan, page = 1 }: OrganizationsQuery = {}): string {
  const query = new URLSearchParams({
    ...(search && { search }),
    ...(plan && { plan }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size > 0 ? `${ORGANIZATIONS_PATH}?${query}` : ORGANIZATIONS_PATH;
}

/** Where the plan of one is changed. */
export function organizationPlanPath(name: string): string {
  return `${ORGANIZATIONS_PATH}/${pathSegment(name)}`;
}
