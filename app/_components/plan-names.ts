import type { OrganizationPlan } from "#core/accounts/organizations/plans.ts";

/** What each plan is called, and what it gives; an organization without one has the free plan. */
export const planNames: Record<OrganizationPlan | "free", string> = {
  free: "Free",
  team: "Team",
  enterprise: "Enterprise",
  plus: "Enterprise Plus",
  academia: "Academia",
};

const everybody = "Members with roles, repositories, collections, OAuth apps, app policy and sign-in rules.";

export const planSentences: Record<OrganizationPlan | "free", string> = {
  free: everybody,
  team: `${everybody} Apps see the plan where a member lets them into the organization.`,
  enterprise: `${everybody} In addition token exchange: an app of yours can act for members without asking each of them.`,
  plus: `${everybody} In addition token exchange: an app of yours can act for members without asking each of them.`,
  academia: `${everybody} Apps see the plan where a member lets them into the organization.`,
};
