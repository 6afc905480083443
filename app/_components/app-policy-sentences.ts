import type { AppPolicy, AppRefusal } from "#core/oauth/app-policy/app-policies.ts";

/** What each policy means, and what follows from choosing it. */
export const policyChoices: Record<AppPolicy, { label: string; hint: string }> = {
  all: {
    label: "All apps",
    hint: "A member may let any app into the organization, as far as their own role goes. What you block stays out.",
  },
  approved: {
    label: "Approved apps only",
    hint: "An app reaches the organization once you have approved it. Members can ask for one where it wants to be let in.",
  },
  none: {
    label: "No apps",
    hint: "No app reaches the organization, approved ones neither. Only apps that act for it by token exchange go on.",
  },
};

/** Why an organization does not let an app in, to a member of it. */
export const refusalSentences: Record<AppRefusal, string> = {
  blocked: "has blocked this app",
  not_approved: "lets in approved apps only",
  no_apps: "lets no apps in",
};
