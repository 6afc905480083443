/** Which apps an organization lets at what is its own (the SQL function `is_app_admitted` decides by it). */
export const appPolicies = ["all", "approved", "none"] as const;
export type AppPolicy = (typeof appPolicies)[number];

/** What administrators said of one app. */
export const appDecisions = ["approved", "blocked"] as const;
export type AppDecision = (typeof appDecisions)[number];

/** Why an app is not let in: blocked by name, waiting for approval, or no app is. */
export type AppRefusal = "blocked" | "not_approved" | "no_apps";
