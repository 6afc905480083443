import type { OrganizationRole } from "@keyhook/sdk";
import type { OrganizationPlan } from "#core/accounts/organizations/plans.ts";
import type { AppPolicy, AppRefusal } from "#core/oauth/app-policy/app-policy.ts";

export const roleNames: Record<OrganizationRole, string> = {
  read: "Read",
  contributor: "Contributor",
  write: "Write",
  admin: "Admin",
};

export const roleSentences: Record<OrganizationRole, string> = {
  read: "see the organization's private content",
  contributor: "create repositories, and change and delete the ones they created",
  write: "create repositories, change and delete any of the organization's repositories, and run jobs",
  admin: "change everything, including members and settings",
};

export const yourRoleSentences: Record<OrganizationRole, string> = {
  ...roleSentences,
  contributor: "create repositories, and change and delete the ones you created",
};

export const planNames: Record<OrganizationPlan | "free", string> = {
  free: "Free",
  team: "Team",
  enterprise: "Enterprise",
  plus: "Plus",
  academia: "Academia",
};

/** Apps with access to the organization see the plan's name. */
export const planSentences: Record<OrganizationPlan | "free", string> = {
  free: "Everything except token exchange and the export of the audit log.",
  team: "Everything except token exchange.",
  enterprise: "Everything, including token exchange: the organization's apps can act for members without asking each of them.",
  plus: "The same as Enterprise, except for the name that apps see.",
  academia: "The same as Team, except for the name that apps see.",
};

export const policyChoices: Record<AppPolicy, { label: string; hint: string }> = {
  all: {
    label: "All apps",
    hint: "Members can give any app access, limited to their own role, unless you block the app.",
  },
  approved: {
    label: "Approved apps only",
    hint: "Only these apps can access the organization: those that you approve, its own apps with token exchange, and those that are part of this service. Members can request approval when they sign in to an app.",
  },
  none: {
    label: "No apps",
    hint: "Not even approved apps can access the organization. Only its apps with token exchange and apps that are part of this service continue to work.",
  },
};

export const refusalSentences: Record<AppRefusal, string> = {
  blocked: "has blocked this app",
  not_approved: "allows only approved apps",
  no_apps: "allows no apps",
};
