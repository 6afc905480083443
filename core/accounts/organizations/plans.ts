/** What an organization may pay for (wire.md 1.7); none is null. */
export const organizationPlans = ["team", "enterprise", "plus", "academia"] as const;
export type OrganizationPlan = (typeof organizationPlans)[number];

/** With which token exchange works (brief §8): losing them ends it at once. */
export const exchangePlans: readonly OrganizationPlan[] = ["enterprise", "plus"];

/** Whether token exchange works for an organization with this plan. */
export function hasTokenExchange(plan: string | null): boolean {
  return exchangePlans.some((known) => known === plan);
}
