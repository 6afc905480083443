/** What an organization may pay for (wire.md 1.7); none is null. Token exchange needs `enterprise` or `plus` (brief §8). */
export const organizationPlans = ["team", "enterprise", "plus", "academia"] as const;
export type OrganizationPlan = (typeof organizationPlans)[number];
