/** Roles in an organization, from least to most. */
export const organizationRoles = ["read", "contributor", "write", "admin"] as const;
export type OrganizationRole = (typeof organizationRoles)[number];

/** Whether `role` includes everything that `least` may do. */
export function isRoleAtLeast(role: OrganizationRole, least: OrganizationRole): boolean {
  return organizationRoles.indexOf(role) >= organizationRoles.indexOf(least);
}

/** What an organization may ask of its members before they reach what is its own (wire contract, 1.7). */
export const securityRestrictions = ["mfa", "sso"] as const;
export type SecurityRestriction = (typeof securityRestrictions)[number];
