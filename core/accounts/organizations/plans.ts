/** The plans of organizations (docs/specification/organizations-and-tokens.md#organizations); null for none. */
export const organizationPlans = ["team", "enterprise", "plus", "academia"] as const;
export type OrganizationPlan = (typeof organizationPlans)[number];

/** The plans with token exchange (docs/specification/organizations-and-tokens.md#organizations): losing them ends it at once. */
export const exchangePlans: readonly OrganizationPlan[] = ["enterprise", "plus"];

/** Whether token exchange works for an organization with this plan. */
export function hasTokenExchange(plan: string | null): boolean {
  return exchangePlans.some((known) => known === plan);
}
