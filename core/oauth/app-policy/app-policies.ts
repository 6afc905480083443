/** Which apps an organization allows to access what it owns (the SQL function `is_app_admitted` applies it). */
export const appPolicies = ["all", "approved", "none"] as const;
export type AppPolicy = (typeof appPolicies)[number];

/** An administrator's decision about one app. */
export const appDecisions = ["approved", "blocked"] as const;
export type AppDecision = (typeof appDecisions)[number];

/** Why an app is not allowed: it is blocked by name, it waits for approval, or the organization allows none. */
export type AppRefusal = "blocked" | "not_approved" | "no_apps";
