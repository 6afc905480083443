export const organizationPlans = ["team", "enterprise", "plus", "academia"] as const;
export type OrganizationPlan = (typeof organizationPlans)[number];

/** See docs/specification/organizations-and-tokens.md#organizations. */
export const exchangePlans: readonly OrganizationPlan[] = ["enterprise", "plus"];

export function hasTokenExchange(plan: string | null): boolean {
  return exchangePlans.some((known) => known === plan);
}
